"""The same program gives the same graph on the embedded engine and on PyTorch, node for node and edge for edge."""

import pytest

from gradrepl import torch as embedded
from gradrepl.graphs import graph
from gradrepl.render.data import as_data
from gradrepl.render.labels import is_telling
from tests.graphs import programs, snippets
from tests.graphs.engines import installed_torch
from tests.render.golden import GOLDEN

SMALL = {"chain": (50,), "tree": (5,), "wide": (20,)}
torch = installed_torch()
pytestmark = pytest.mark.torch


def data(asked, names, **look):
    names = {name: thing for name, thing in names.items() if name not in ("torch", "model")}
    found = as_data(graph(asked, names=names, **look))
    for node in found["nodes"]:
        node["arguments"] = {name: rounded(value) for name, value in node.get("arguments", {}).items() if is_telling(name, value)}
    return found


def rounded(value):
    """Random numbers are equal to the last digit but one."""
    return round(value, 5) if isinstance(value, float) else value


def differences(ours, theirs):
    """What differs, a line each: the first few."""
    found = [f"{key}: {len(ours[key])} != {len(theirs[key])}" for key in ours if len(ours[key]) != len(theirs[key])]
    pairs = [pair for key in ("roots", "nodes", "edges") for pair in zip(ours[key], theirs[key])]
    found += [f"{one}\n  {two}" for one, two in pairs if one != two]
    return "\n".join(found[:5])


def run(engine, program, *args):
    engine.manual_seed(0)
    return data(*pick(program(engine, *args)))


def assert_same(program, *args):
    found = differences(run(embedded, program, *args), run(torch, program, *args))
    assert not found, found


def pick(result):
    return result[:2] if isinstance(result, tuple) else (result, {})


@pytest.mark.parametrize("program", snippets.SNIPPETS, ids=lambda program: program.__name__)
def test_snippets(program):
    assert_same(program)


@pytest.mark.parametrize(
    "program", [program for program in GOLDEN if program.__name__ != "folded_rnn"], ids=lambda program: program.__name__
)
def test_golden_programs(program):
    assert_same(program)


@pytest.mark.parametrize("program", programs.REPEATS, ids=lambda program: program.__name__)
def test_programs_with_repeats(program):
    assert_same(program, *SMALL.get(program.__name__, (() if program is programs.scalar_mlp else (6,))))
