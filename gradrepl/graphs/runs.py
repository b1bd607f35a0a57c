"""Find the blocks that repeat along a graph.

Every op gets its place in `print_order`; a leaf stands at its first use. A run is a stretch of equal blocks in which every edge, in or out,
moves by a constant step from block to block: the size of the block (an edge inside it, a tie to the next one, a leaf of its own), zero (a
shared leaf, a hub), or any other (it keeps pace with another run). So block k follows from the first two by arithmetic: nothing is merged
that differs.
"""

from operator import sub
from typing import NamedTuple

from .order import print_order

FEWEST_BLOCKS = 4  # the first and the last are drawn, so a card stands for two or more
FEWEST_HIDDEN = 6  # ops behind a card; with fewer the card saves nothing


class Sequence(NamedTuple):
    ops: list  # the op at each place
    coarse: list  # token: name, shape, number of inputs
    fine: list  # token: the same, and those of its inputs
    refs: list  # (place, output number) of each input in one flat tuple, (0, 0) for a constant; then (number, 0) for each number
    uses: list  # (place of the consumer, input position, output number), root uses first at place -1
    width: int  # places are multiplied by it, so that leaves fit between ops
    tokens: dict


class Run(NamedTuple):
    start: int  # place of its first op
    size: int  # ops in a block
    count: int  # type: ignore[assignment]  # blocks, with the first and the last
    title: str


class Items(NamedTuple):
    """The sequence with the runs found so far as one item each."""

    start: list  # one longer than the others
    fine: list
    coarse: list
    text: list


def sequence(nodes, roots, ops=None):
    """Lay the graph out as a sequence of ops and the references between them; `ops` is their print order where that is known."""
    ops = print_order(nodes, roots) if ops is None else ops
    width, tokens = 1 + max((len(nodes[op].inputs) for op in ops), default=0), {}
    place, uses = {op: index * width for index, op in enumerate(ops)}, [[] for _ in ops]
    for number, root in enumerate(roots):
        if root in place:
            uses[place[root] // width].append((-1, number, 0))
    coarse, fine, refs = [], [], []
    names = [tokens.setdefault((node.label, len(node.inputs), node.leaf), len(tokens)) for node in nodes]
    for index, op in enumerate(ops):
        inputs, row = nodes[op].inputs, []
        for position, edge in enumerate(inputs):
            target, output = edge or (None, 0)
            row += (0, 0) if edge is None else (place.setdefault(target, index * width + position + 1), output)
            if edge and not nodes[target].leaf:
                uses[place[target] // width].append((index, position, output))
        for number in nodes[op].numbers:
            row += (number, 0)
        refs.append(tuple(row))
        coarse.append(names[op])
        shape = (names[op], *[edge and names[edge[0]] for edge in inputs])
        fine.append(tokens.setdefault(shape, len(tokens)))
    return Sequence(ops, coarse, fine, refs, uses, width, tokens)


def fewest(size):
    """Return how many blocks of `size` ops make a run worth a card."""
    return max(FEWEST_BLOCKS, 2 - (-FEWEST_HIDDEN // size))


def step(seq, place, size):
    return tuple(map(sub, seq.refs[place + size], seq.refs[place]))


def steady(seq, size, begin, end):
    """Are the steps of the ops in begin:end the same as one block earlier?"""
    return all(step(seq, place - size, size) == step(seq, place, size) for place in range(begin, end))


def evenly_used(seq, start, size, count):
    """Return (blocks to skip, blocks left) such that what uses the blocks left moves at a constant step too, the first of them apart.

    A tie that skips a block (x[t] from x[t-1] and x[t-2]) reaches the second block from nowhere, so the run begins later.
    """
    skipped, uses, moved = 0, seq.uses, {}
    for place in range(start + 2 * size, start + count * size):
        block, here, before = (place - start) // size, uses[place], uses[place - size]
        if len(here) != len(before):
            resumes = block - 1
        elif not evenly_moved(uses, place, size, moved) and block > skipped + 2:
            resumes = block - 2
        else:
            continue
        if block - skipped >= fewest(size):
            return skipped, block - skipped
        skipped = resumes
    return skipped, count - skipped


def evenly_moved(uses, place, size, moved):
    """Did the uses of an op move as they did one block earlier?  `moved` keeps that for the next block."""
    here = moved[place] = moves(uses[place - size], uses[place])
    return here == (moved.pop(place - size, None) or moves(uses[place - 2 * size], uses[place - size]))


def moves(before, here):
    return [tuple(map(sub, new, old)) for old, new in zip(before, here)]


def ends(seq, start, size, end):
    """Is the block at `end` like the one before but for where it leads to next?  It is drawn, so that may be anything."""
    for place in range(end - size, end):
        before, here, refs = step(seq, place - size, size), step(seq, place, size), seq.refs[place]
        for slot in range(0, len(here), 2):
            leads_on = before[slot] == size * seq.width and refs[slot] >= end * seq.width
            if not leads_on and before[slot : slot + 2] != here[slot : slot + 2]:
                return False
    return True


def stretch(seq, items, first, period, known):
    """Return the item at which `period` breaks, and the earliest item from which it may hold further."""
    size = items.start[first + period] - items.start[first]
    for item in range(known, len(items.fine) - period):
        if items.fine[item] != items.fine[item + period]:
            return item, item + 1
        if item >= first + period and not steady(seq, size, items.start[item], items.start[item + 1]):
            return item, item - period + 1
    return len(items.fine) - period, len(items.fine)


def count_blocks(seq, items, first, period, broken):
    """Return (blocks to skip, blocks left) of the run that seems to start at `first`; the last one has a free end."""
    start, size = items.start[first], items.start[first + period] - items.start[first]
    count = 1 + (broken - first) // period
    if count > 2 and alike(items, first + count * period, period, broken) and ends(seq, start, size, start + count * size):
        count += 1
    return evenly_used(seq, start, size, count) if count >= fewest(size) else (0, count)


def alike(items, last, period, broken):
    """Do the items in the block at `last` look like those of the block before?  Where the period broke is looked at first: it decides."""
    same = items.coarse[broken : broken + 1] == items.coarse[broken + period : broken + period + 1]
    return same and items.coarse[last : last + period] == items.coarse[last - period : last]


def next_equal(grams):
    later, seen = [len(grams)] * len(grams), {}
    for index in range(len(grams) - 1, -1, -1):
        gram = grams[index]
        if gram in seen:
            later[index] = seen[gram]
        seen[gram] = index
    return later


def scan(seq, items, grams, limit):
    """Return [(first item, period, number of blocks)] of the runs with a period over limit/2 and up to `limit`, from left to right."""
    later, known, found, first = next_equal(grams), {}, [], 0
    while first < len(grams):
        other = first
        for _ in range(FEWEST_BLOCKS - 1):  # equal tokens may tie differently: weights used in turn, A B A B, have twice the period
            other = later[other] if other < len(grams) else other
            period = other - first
            if other >= len(grams) or period > limit:
                break
            if 2 * period > limit or limit == 1:
                skipped, count = try_period(seq, items, first, period, known)
                if count:
                    found.append((first + skipped * period, period, count))
                    first += period * (skipped + count) - 1
                    break
        first += 1
    return found


def try_period(seq, items, first, period, known):
    """Return (blocks to skip, blocks of the run after them), (0, 0) if there is none.

    `known` keeps for each period how far it holds, from where on it may hold further, and from where on it was not tried: no stretch is
    read twice.
    """
    size = items.start[first + period] - items.start[first]
    broken, resume, untried = known.get((period, size), (first, first, first))
    short = broken - first < period * (FEWEST_BLOCKS - 2)
    if first < untried or short and first < resume:
        return 0, 0
    if short:
        broken, resume = stretch(seq, items, first, period, max(first, broken))
    skipped, count = count_blocks(seq, items, first, period, broken)
    enough = count >= fewest(size)
    known[period, size] = broken, resume, first if enough else first + skipped * period + 1
    return (skipped, count) if enough else (0, 0)


def contract(seq, items, found):
    """Return the items with each run as one, and the runs."""
    merged, runs, item = Items([], [], [], []), [], 0
    for first, period, count in [*found, (len(items.fine), 0, 0)]:
        for old, new in zip(items, merged):
            new.extend(old[item:first])
        if not period:
            break
        block = slice(first, first + period)
        title = ", ".join(items.text[block])
        runs.append(Run(items.start[first], items.start[first + period] - items.start[first], count, title))
        merged.start.append(items.start[first])
        for old, new in ((items.fine, merged.fine), (items.coarse, merged.coarse)):
            new.append(seq.tokens.setdefault(("run", count, *old[block]), len(seq.tokens)))
        merged.text.append(f"({title}) × {count}")
        item = first + period * count
    merged.start.append(items.start[-1])
    return merged, runs


def find_runs(nodes, seq):
    """Return the runs, smallest period first, so that a loop inside a loop is one item of the outer one."""
    names = [nodes[op].text for op in seq.ops]
    items, runs, limit = Items(list(range(len(seq.ops) + 1)), seq.fine, seq.coarse, names), [], 1
    grams = items.fine
    while limit * (FEWEST_BLOCKS - 1) <= len(items.fine):
        found = scan(seq, items, grams, limit)
        if found:
            items, new = contract(seq, items, found)
            runs, limit, grams = runs + new, 1, items.fine
            continue
        pairs = {}
        grams = [pairs.setdefault((a, b), len(pairs)) for a, b in zip(grams, grams[limit:] + [-1] * limit)]
        limit *= 2
        if len(pairs) == len(grams):
            break
    return runs
