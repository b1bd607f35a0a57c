"""Draw each repetition in a graph as its first block, one card for the blocks between, its last block. Imports order and runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from .order import Columns, print_order
from .runs import Line, Run, find_runs, line_up


class Fold(NamedTuple):
    run: Run  # its title names the ops of a block; to open the fold, pass the run to fold()
    blocks: tuple[tuple[int, ...], ...]  # the nodes of each block, as indices: ops, each with the leaves that only folded ops use

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.blocks)


class Edge(NamedTuple):
    source: int  # index into cards: the consumer
    target: int
    position: int | None  # input of the consumer; None: several
    output: int | None  # output of the producer; None: several
    count: int  # type: ignore[assignment]


@dataclass
class Folded:
    nodes: Columns
    ops: Sequence[int]  # in print order
    cards: list[int | Fold]  # in print order: an index into nodes, or a Fold
    runs: list[Run]  # all that were found, inner ones in every block of the outer

    @cached_property
    def edges(self) -> list[Edge]:
        """The edges between cards; those between the same two cards are one edge if either is a fold."""
        nodes, cards = self.nodes, self.cards
        card_of, groups = [-1] * len(nodes.inputs), dict[tuple, list]()
        for number, card in enumerate(cards):
            for node in (card,) if isinstance(card, int) else chain.from_iterable(card.blocks):
                card_of[node] = number
        folds = [isinstance(card, Fold) for card in cards]
        for op in self.ops:
            source = card_of[op]
            for position, edge in enumerate(nodes.inputs[op]):
                target = card_of[edge[0]] if edge else source
                folded = folds[source] or folds[target]
                if edge and (source != target or not folded):
                    groups.setdefault((source, target, None if folded else position), []).append((position, edge[1]))
        return [
            Edge(source, target, only([position for position, _ in ends]), only([output for _, output in ends]), len(ends))
            for (source, target, _), ends in groups.items()
        ]


def only(values: Sequence[int]) -> int | None:
    return values[0] if len(set(values)) == 1 else None


def hide(size: int, runs: list[Run], opened: Collection[Run]) -> tuple[dict[int, Run], bytearray]:
    """Return the runs that are folded, each by the place of its second block; and for each place whether it is behind a card."""
    hidden, found = bytearray(size), {}
    for run in sorted(runs, key=lambda run: -run.size * run.count):  # so an outer run comes before those in its blocks
        if run not in opened and not hidden[run.start]:
            begin, end = run.start + run.size, run.start + run.size * (run.count - 1)
            hidden[begin:end] = b"\1" * (end - begin)
            found[begin] = run
    return found, hidden


def deal_cards(line: Line, runs: dict[int, Run], visible: set[int]) -> Iterator[int | Fold]:
    """Yield the cards. A leaf stands behind its first user's card only if all its users are behind cards: if it is not visible."""
    own = {place: [leaf for leaf in leaves if leaf not in visible] for place, leaves in line.leaves.items()}
    own = {place: leaves for place, leaves in own.items() if leaves}
    at = 0
    while at < len(line.ops):
        run = runs.get(at)
        if run is None:
            yield line.ops[at]
            end = at + 1
        else:
            end = at + run.size * (run.count - 2)
            yield Fold(run, tuple([block(line.ops, begin, begin + run.size, own) for begin in range(at, end, run.size)]))
        for place in range(at, end):
            yield from [leaf for leaf in line.leaves.get(place, ()) if leaf in visible]
        at = end


def block(ops: Sequence[int], begin: int, end: int, own: dict[int, list[int]]) -> tuple[int, ...]:
    """Return the ops in begin:end, each with its own leaves after it."""
    return tuple([node for place in range(begin, end) for node in (ops[place], *own.get(place, ()))] if own else ops[begin:end])


def fold(nodes: Columns, roots: Sequence[int], opened: Collection[Run] = (), ops: Sequence[int] | None = None) -> Folded:
    """Return the graph with its repetitions folded, but for the runs in `opened`; `ops` is the print order where that is known."""
    line = line_up(nodes, print_order(nodes, roots) if ops is None else ops, roots)
    found = find_runs(line, [nodes.texts[op] for op in line.ops])
    runs, hidden = hide(len(line.ops), found, opened)
    seen = ~np.frombuffer(hidden, bool)[line.users[:, 0]]
    leaf_roots = dict.fromkeys(root for root in roots if nodes.leaf[root])
    cards = list(deal_cards(line, runs, {*line.users[seen, 1].tolist(), *leaf_roots}))
    unused = leaf_roots.keys() - {*line.users[:, 1].tolist()}
    return Folded(nodes, line.ops, [*cards, *[root for root in leaf_roots if root in unused]], found)
