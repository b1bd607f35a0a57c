"""Rows of different lengths in one array, compared many at a time. Imports nothing of the project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

FEWEST_AT_ONCE = 32


class Rows(NamedTuple):
    """Rows of integers of one width, one row after the other."""

    flat: np.ndarray
    begin: np.ndarray  # where each row begins, and the last ends

    @classmethod
    def of(cls, row: np.ndarray, entries: np.ndarray, count: int) -> Rows:
        """Gather the entries of each of `count` rows, in the order in which they come."""
        return cls(entries[np.argsort(row, kind="stable")], np.concatenate(([0], np.cumsum(np.bincount(row, minlength=count)))))

    def row(self, number: int) -> list[list[int]]:
        return self.flat[self.begin[number] : self.begin[number + 1]].tolist()

    def lengths(self, begin: int, end: int) -> np.ndarray:
        return np.diff(self.begin[begin : end + 1])

    def uneven(self, size: int, begin: int, end: int) -> np.ndarray:
        """Return for each row in begin:end whether it moved otherwise from the row `size` before than that from the one before it."""
        here, before, earlier = (self.lengths(begin - back, end - back) for back in (0, size, 2 * size))
        found = (here != before) | (before != earlier)
        length = np.where(found, 0, here)
        number = np.repeat(np.arange(end - begin), length)
        within = np.arange(len(number)) - np.repeat(np.cumsum(length) - length, length)
        one, two, three = (self.flat[self.begin[begin - back + number] + within] for back in (0, size, 2 * size))
        found[number[(one - two != two - three).any(axis=1)]] = True
        return found


def stretches(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut begin:end into stretches, each twice as long as the one before: who stops at the first find has not looked much further."""
    length = FEWEST_AT_ONCE
    while begin < end:
        yield begin, min(begin + length, end)
        begin, length = begin + length, 2 * length
