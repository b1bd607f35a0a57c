"""A graph as one object per node, which a test can change, and what is tested on such graphs."""

from typing import NamedTuple

from gradrepl.graphs import fold as folds
from gradrepl.graphs import order, runs
from gradrepl.graphs.order import Columns


class Item(NamedTuple):
    label: object
    inputs: tuple = ()
    leaf: bool = False
    numbers: tuple = ()
    text: str = ""


def columns(nodes):
    return Columns(*(list(column) for column in zip(*nodes))) if nodes else Columns([], [], [])


def items(columns):
    return [Item(*row) for row in zip(*columns, strict=True)]


def fold(nodes, roots, opened=()):
    return folds.fold(columns(nodes), roots, opened)


def print_order(nodes, roots):
    return order.print_order(columns(nodes), roots)


def line_up(nodes, roots):
    return runs.line_up(columns(nodes), print_order(nodes, roots), roots)
