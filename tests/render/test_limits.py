"""Limits of a drawing: no cycles, nothing lost, few cards, few long edges."""

import random

import pytest

from gradrepl.render.limits import MOST_CARDS, MOST_DUMMIES, Alias, LeftOut, alias, estimate, leave_out, ranks
from tests.graphs import programs
from tests.graphs.items import Item, fold
from tests.graphs.test_fold import build


def node(name, inputs=(), leaf=False):
    return Item(name, inputs, leaf, (), name)


def hub(uses):
    """A chain of irregular ops, each also reading one tensor."""
    rng = random.Random(0)
    ops = [node(rng.choice("ABCDEFG"), ((i + 1, 0), (uses, 0))) for i in range(uses)]
    return [*ops, node("Tanh", ((uses + 1, 0),)), node("leaf", (), True)], [0]


def skips(length, span, number):
    rng = random.Random(0)
    far = {i * (length - span) // number: i * (length - span) // number + span for i in range(number)}
    targets = [[t for t in (i + 1, far.get(i)) if t and t < length] for i in range(length)]
    return [node(rng.choice("ABCDEFG"), tuple((t, 0) for t in each)) for each in targets], [0]


def wide(size):
    rng = random.Random(0)
    ops = [node(f"{rng.choice('ABCDEFG')}{rng.randrange(9)}", ((size + 1, i),)) for i in range(size)]
    return [node("Stack", tuple((i + 1, 0) for i in range(size))), *ops, node("Unbind")], [0]


def far(size, reach):
    rng = random.Random(0)
    return [
        node(rng.choice("ABC"), tuple((min(size - 1, i + rng.randrange(1, reach)), 0) for _ in range(2)) if i < size - 1 else ())
        for i in range(size)
    ], [0]


GRAPHS = {
    "hub of 500": lambda: hub(500),
    "hub of 5000": lambda: hub(5000),
    "skips": lambda: skips(700, 300, 40),
    "long skips": lambda: skips(6000, 300, 500),
    "random": lambda: far(10000, 20),
    "random far": lambda: far(6000, 2000),
    "random small": lambda: far(700, 30),
    "tree": lambda: build(programs.tree, 12),
    "wide": lambda: wide(8000),
    "wide small": lambda: wide(700),
    "scalar mlp": lambda: build(programs.scalar_mlp),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_drawing_is_affordable(name):
    nodes, roots = GRAPHS[name]()
    folded = fold(nodes, roots)
    cards, edges = leave_out(folded.cards, folded.edges)
    assert len(cards) <= MOST_CARDS
    drawn = [kept for card in cards for kept in (card.cards if isinstance(card, LeftOut) else (card,))]
    assert len(drawn) == len(folded.cards) and set(map(str, drawn)) == set(map(str, folded.cards))
    cost = estimate(*alias(nodes, cards, edges))
    assert cost.dummies <= MOST_DUMMIES and cost.seconds < 1
    rank = ranks(len(cards), edges)
    assert all(rank[edge.source] < rank[edge.target] for edge in edges)  # no cycle


@pytest.mark.parametrize("uses, aliases", [(2, 0), (3, 2)])
def test_a_leaf_used_twice_keeps_its_edges_and_thrice_gets_aliases(uses, aliases):
    nodes = [node("A" * (i + 1), ((i + 1, 0), (uses, 0)) if i + 1 < uses else ((uses, 0),)) for i in range(uses)] + [node("leaf", (), True)]
    folded = fold(nodes, [0])
    cards, _ = alias(nodes, folded.cards, folded.edges)
    assert sum(isinstance(card, Alias) for card in cards) == aliases


def test_ranks_do_not_move_when_edges_become_aliases():
    nodes, roots = hub(500)
    folded = fold(nodes, roots)
    cards, edges = alias(nodes, folded.cards, folded.edges)
    before, after = ranks(len(folded.cards), folded.edges), ranks(len(cards), edges)
    assert after[: len(before)] == before


def test_small_graphs_are_left_alone():
    nodes, roots = build(programs.residual, 3)
    folded = fold(nodes, roots)
    cards, edges = leave_out(folded.cards, folded.edges)
    assert alias(nodes, cards, edges) == (folded.cards, folded.edges)
