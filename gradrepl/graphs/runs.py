"""Find the blocks that repeat along a graph. Imports order and rows.

Every op gets its place in `print_order`; a leaf stands at its first use. A run is a stretch of equal blocks in which every edge, in or out,
moves by a constant step from block to block: the size of the block (an edge inside it, a tie to the next one, a leaf of its own), zero (a
shared leaf, a hub), or any other (it keeps pace with another run). So block k follows from the first two by arithmetic: nothing is merged
that differs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from .order import Columns
from .rows import Rows, stretches

FEWEST_BLOCKS = 4  # the first and the last are drawn, so a card stands for two or more
FEWEST_HIDDEN = 6  # ops behind a card; with fewer the card saves nothing


class Line(NamedTuple):
    """The ops of a graph one after the other, and the references between them."""

    ops: Sequence[int]  # the op at each place
    coarse: np.ndarray  # token: name, shape, number of inputs
    fine: np.ndarray  # token: the same, and those of its inputs
    refs: Rows  # (place, output number) of each input, (0, 0) for a constant; then (number, 0) for each number
    uses: Rows  # (place of the consumer, input position, output number), root uses first at place -1
    width: int  # places are multiplied by it, so that leaves fit between ops
    tokens: dict[tuple, int]
    leaves: dict[int, list[int]]  # place of an op -> the leaves that it is the first to use
    users: np.ndarray  # (place of the consumer, leaf) for each use of a leaf


class Run(NamedTuple):
    start: int  # place of its first op
    size: int  # ops in a block
    count: int  # type: ignore[assignment]  # blocks, with the first and the last
    title: str


class Items(NamedTuple):
    """The line with the runs found so far as one item each."""

    start: np.ndarray  # one longer than the others
    fine: np.ndarray
    coarse: np.ndarray
    text: list[str]


def line_up(nodes: Columns, ops: Sequence[int], roots: Sequence[int]) -> Line:
    """Lay the graph out as a line of ops, in the order in which they are given, and the references between them."""
    inputs = [nodes.inputs[op] for op in ops]
    edges = [edge or (-1, 0) for row in inputs for edge in row]
    target, output = np.fromiter(chain.from_iterable(edges), np.int64, 2 * len(edges)).reshape(-1, 2).T
    lengths = np.fromiter(map(len, inputs), np.int64, len(inputs))
    user = np.repeat(np.arange(len(ops), dtype=np.int64), lengths)
    position = np.arange(len(edges)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    width = 1 + int(lengths.max(initial=0))
    place = np.full(len(nodes.inputs) + 1, -1, np.int64)
    place[ops], place[-1] = np.arange(len(ops)) * width, 0  # the last one is that of a constant
    leaf = np.array([*nodes.leaf, False])[target]
    used, first = np.unique(target[leaf], return_index=True)
    place[used] = (user * width + position + 1)[leaf][first]
    leaves: dict[int, list[int]] = {}
    for each in used[np.argsort(place[used])].tolist():
        leaves.setdefault(int(place[each]) // width, []).append(each)
    coarse, fine, tokens = tokens_of(nodes, ops, target.tolist())
    rooted = [(root, -1, number, 0) for number, root in enumerate(roots) if not nodes.leaf[root]]
    used = np.column_stack((target, user, position, output))[(target >= 0) & ~leaf]
    used = np.concatenate((np.array(rooted, np.int64).reshape(-1, 4), used))
    uses = Rows.of(place[used[:, 0]] // width, used[:, 1:], len(ops))
    refs = references(nodes, ops, user, np.column_stack((place[target], output)))
    return Line(ops, coarse, fine, refs, uses, width, tokens, leaves, np.column_stack((user, target))[leaf])


def tokens_of(nodes: Columns, ops: Sequence[int], targets: list[int]) -> tuple[np.ndarray, np.ndarray, dict[tuple, int]]:
    """Return a number for what tells ops apart by themselves, one for that with their inputs, and all numbers given."""
    tokens: dict[tuple, int] = {}
    alike = [tokens.setdefault(key, len(tokens)) for key in zip(nodes.labels, map(len, nodes.inputs), nodes.leaf)]
    coarse, alike = [alike[op] for op in ops], [*alike, -1]
    below, fine, end = [alike[target] for target in targets], [], 0
    for token, op in zip(coarse, ops):
        begin, end = end, end + len(nodes.inputs[op])
        fine.append(tokens.setdefault((token, *below[begin:end]), len(tokens)))
    return np.array(coarse, np.int64), np.array(fine, np.int64), tokens


def references(nodes: Columns, ops: Sequence[int], user: np.ndarray, edges: np.ndarray) -> Rows:
    """Return the edges of each op, and its numbers after them."""
    numbers = [(place, number) for place, op in enumerate(ops) for number in nodes.numbers[op]] if nodes.numbers else []
    if not numbers:
        return Rows.of(user, edges, len(ops))
    place, number = np.array(numbers, np.int64).T
    return Rows.of(np.concatenate((user, place)), np.concatenate((edges, np.column_stack((number, 0 * number)))), len(ops))


def fewest(size: int) -> int:
    """Return how many blocks of `size` ops make a run worth a card."""
    return max(FEWEST_BLOCKS, 2 - (-FEWEST_HIDDEN // size))


def evenly_used(line: Line, start: int, size: int, count: int) -> tuple[int, int]:
    """Return (blocks to skip, blocks left) such that what uses the blocks left moves at a constant step too, the first of them apart.

    A tie that skips a block (x[t] from x[t-1] and x[t-2]) reaches the second block from nowhere, so the run begins later.
    """
    skipped = 0
    for place, as_many in unevenly_used(line, start, size, count):
        block = (place - start) // size
        if as_many and block <= skipped + 2:
            continue
        resumes = block - 2 if as_many else block - 1
        if block - skipped >= fewest(size):
            return skipped, block - skipped
        skipped = resumes
    return skipped, count - skipped


def unevenly_used(line: Line, start: int, size: int, count: int) -> Iterator[tuple[int, bool]]:
    """Yield each place from the third block on whose uses did not move as those a block earlier did, and whether it has as many."""
    for begin, end in stretches(start + 2 * size, start + count * size):
        as_many = line.uses.lengths(begin, end) == line.uses.lengths(begin - size, end - size)
        for offset in np.flatnonzero(line.uses.uneven(size, begin, end)).tolist():
            yield begin + offset, bool(as_many[offset])


def ends(line: Line, start: int, size: int, end: int) -> bool:
    """Is the block at `end` like the one before but for where it leads to next?  It is drawn, so that may be anything."""
    (flat, begin), first = line.refs, end - size
    before, here, there = (flat[begin[place] : begin[place + size]] for place in (first - size, first, end))
    leads_on = (here[:, 0] - before[:, 0] == size * line.width) & (here[:, 0] >= end * line.width)
    return bool((leads_on | (here - before == there - here).all(axis=1)).all())


def stretch(line: Line, items: Items, first: int, period: int, known: int) -> tuple[int, int]:
    """Return the item at which `period` breaks, and the earliest item from which it may hold further."""
    start, fine = items.start, items.fine
    size, last = int(start[first + period] - start[first]), len(fine) - period
    for begin, end in stretches(known, last):
        differ = np.flatnonzero(fine[begin:end] != fine[begin + period : end + period])
        stop = begin + int(differ[0]) if len(differ) else end
        begin = max(begin, first + period)
        if begin < stop:
            unsteady = np.flatnonzero(line.refs.uneven(size, start[begin] + size, start[stop] + size))
            if len(unsteady):
                item = int(np.searchsorted(start, start[begin] + unsteady[0], "right")) - 1
                return item, item - period + 1
        if len(differ):
            return stop, stop + 1
    return last, len(fine)


def count_blocks(line: Line, items: Items, first: int, period: int, broken: int) -> tuple[int, int]:
    """Return (blocks to skip, blocks left) of the run that seems to start at `first`; the last one has a free end."""
    start, size = int(items.start[first]), int(items.start[first + period] - items.start[first])
    count = 1 + (broken - first) // period
    if count > 2 and alike(items, first + count * period, period, broken) and ends(line, start, size, start + count * size):
        count += 1
    return evenly_used(line, start, size, count) if count >= fewest(size) else (0, count)


def alike(items: Items, last: int, period: int, broken: int) -> bool:
    """Do the items in the block at `last` look like those of the block before?  Where the period broke is looked at first: it decides."""
    coarse = items.coarse
    same = np.array_equal(coarse[broken : broken + 1], coarse[broken + period : broken + period + 1])
    return same and np.array_equal(coarse[last : last + period], coarse[last - period : last])


def next_equal(grams: np.ndarray) -> np.ndarray:
    """Return the next place of each gram; len(grams), which follows itself, where there is none."""
    order = np.argsort(grams, kind="stable")
    later = np.full(len(grams) + 1, len(grams))
    same = np.flatnonzero(grams[order[1:]] == grams[order[:-1]])
    later[order[same]] = order[same + 1]
    return later


def candidates(later: np.ndarray, limit: int) -> list[int]:
    """Return the items from which a period over limit/2 and up to `limit` may lead, from left to right."""
    here = np.arange(len(later))
    found, other = np.zeros(len(later), bool), here
    for _ in range(FEWEST_BLOCKS - 1):
        other = later[other]
        found |= (other < len(later) - 1) & (other - here <= limit) & ((2 * (other - here) > limit) | (limit == 1))
    return np.flatnonzero(found[:-1]).tolist()


def scan(line: Line, items: Items, grams: np.ndarray, limit: int) -> list[tuple[int, int, int]]:
    """Return [(first item, period, number of blocks)] of the runs with a period over limit/2 and up to `limit`, from left to right."""
    later = next_equal(grams)
    firsts, at, known, found = candidates(later, limit), 0, dict[tuple[int, int], tuple[int, int, int]](), []
    while at < len(firsts):
        other = first = firsts[at]
        at += 1
        for _ in range(FEWEST_BLOCKS - 1):  # equal tokens may tie differently: weights used in turn, A B A B, have twice the period
            other = int(later[other])
            period = other - first
            if other >= len(grams) or period > limit:
                break
            if 2 * period > limit or limit == 1:
                skipped, count = try_period(line, items, first, period, known)
                if count:
                    found.append((first + skipped * period, period, count))
                    at = bisect_left(firsts, first + period * (skipped + count))
                    break
    return found


def try_period(line: Line, items: Items, first: int, period: int, known: dict[tuple[int, int], tuple[int, int, int]]) -> tuple[int, int]:
    """Return (blocks to skip, blocks of the run after them), (0, 0) if there is none.

    `known` keeps for each period how far it holds, from where on it may hold further, and from where on it was not tried: no stretch is
    read twice.
    """
    size = int(items.start[first + period] - items.start[first])
    broken, resume, untried = known.get((period, size), (first, first, first))
    short = broken - first < period * (FEWEST_BLOCKS - 2)
    if first < untried or short and first < resume:
        return 0, 0
    if short:
        broken, resume = stretch(line, items, first, period, max(first, broken))
    skipped, count = count_blocks(line, items, first, period, broken)
    enough = count >= fewest(size)
    known[period, size] = broken, resume, first if enough else first + skipped * period + 1
    return (skipped, count) if enough else (0, 0)


def contract(line: Line, items: Items, found: list[tuple[int, int, int]]) -> tuple[Items, list[Run]]:
    """Return the items with each run as one, and the runs."""
    columns: list[list] = [[], [], []]
    text, runs, item = list[str](), list[Run](), 0
    for first, period, count in [*found, (len(items.fine), 0, 0)]:
        for kept, column in zip(columns, items[:3]):
            kept.append(column[item:first])
        text += items.text[item:first]
        if not period:
            break
        block = slice(first, first + period)
        title = ", ".join(items.text[block])
        runs.append(Run(int(items.start[first]), int(items.start[first + period] - items.start[first]), count, title))
        columns[0].append(items.start[first : first + 1])
        for kept, column in zip(columns[1:], (items.fine, items.coarse)):
            kept.append([line.tokens.setdefault(("run", count, *column[block].tolist()), len(line.tokens))])
        text.append(f"({title}) × {count}")
        item = first + period * count
    columns[0].append(items.start[-1:])
    start, fine, coarse = map(np.concatenate, columns)
    return Items(start, fine, coarse, text), runs


def find_runs(line: Line, texts: list[str]) -> list[Run]:
    """Return the runs, smallest period first, so that a loop inside a loop is one item of the outer one; `texts` are the ops' names."""
    items, runs = Items(np.arange(len(line.ops) + 1), line.fine, line.coarse, texts), list[Run]()
    grams, limit = items.fine, 1
    while limit * (FEWEST_BLOCKS - 1) <= len(items.fine):
        found = scan(line, items, grams, limit)
        if found:
            items, new = contract(line, items, found)
            runs, limit, grams = runs + new, 1, items.fine
            continue
        pairs, grams = np.unique(grams * (int(grams.max()) + 2) + following(grams, limit), return_inverse=True)
        limit *= 2
        if len(pairs) == len(grams):
            break
    return runs


def following(grams: np.ndarray, distance: int) -> np.ndarray:
    """Return a number over 0 for each gram `distance` further on, 0 beyond the last."""
    return np.concatenate((grams[distance:] + 1, np.zeros(min(distance, len(grams)), grams.dtype)))
