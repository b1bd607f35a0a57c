"""Rows of different lengths, compared many at a time, against one after the other."""

import random

import numpy as np
import pytest

from gradrepl.graphs.rows import FEWEST_AT_ONCE, Rows, stretches


def moved(one, two):
    return [[b - a for a, b in zip(*pair)] for pair in zip(one, two)]


@pytest.mark.parametrize("seed", range(20))
def test_uneven_rows_are_those_that_move_otherwise_or_differ_in_length(seed):
    rng = random.Random(seed)
    size, steps = rng.randrange(1, 4), [rng.randrange(3) for _ in range(4)]
    rows = [[[steps[j] * (i // size), j] for j in range(i % size + 1)] for i in range(40)]
    for row in rng.sample(rows, rng.randrange(4)):
        rng.choice(row)[0] += 1 if rng.random() < 0.7 else 0
        row += [[5, 5]] * rng.randrange(2)
    entries = [(place, entry) for place, row in enumerate(rows) for entry in row]
    found = Rows.of(np.array([place for place, _ in entries]), np.array([entry for _, entry in entries]), len(rows))
    assert [found.row(place) for place in range(len(rows))] == rows
    expected = []
    for place in range(2 * size, len(rows)):
        here, before, earlier = rows[place], rows[place - size], rows[place - 2 * size]
        same = len(here) == len(before) == len(earlier)
        expected.append(not same or moved(earlier, before) != moved(before, here))
    assert found.uneven(size, 2 * size, len(rows)).tolist() == expected


def test_stretches_cover_everything_and_grow():
    found = list(stretches(3, 1000))
    assert found[0] == (3, 3 + FEWEST_AT_ONCE) and found[-1][1] == 1000
    assert all(one[1] == two[0] for one, two in zip(found, found[1:]))
    assert len(found) < 8 and list(stretches(5, 5)) == []
