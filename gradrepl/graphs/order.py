"""Put the ops of a graph in an order in which repeated blocks are contiguous. Imports nothing of the project.

The order is that of the dominator tree: an op, then everything reachable only through it. What an op dominates is one interval, so a block
of a loop, a branch, a layer is one interval too, whatever order the program ran in. Lighter branches first: the loop goes on last.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from heapq import heappop, heappush
from itertools import chain, count
from typing import NamedTuple


class Columns(NamedTuple):
    """A graph as far as the places of nodes and their equality go, a column each: objects for all nodes would take half the time."""

    labels: Sequence[Hashable]  # whatever tells two nodes apart on the page, but no names of tensors
    inputs: Sequence[tuple]  # (index of the node, its output number), or None for a constant
    leaf: Sequence[bool]
    numbers: Sequence[tuple[int, ...]] = ()  # integers that may grow by a constant step from block to block, as the 3 in x[3]
    texts: Sequence[str] = ()  # a node's name in the title of a fold

    @property
    def targets(self) -> list[list[int]]:
        """The ops among the inputs of each node."""
        leaf = self.leaf
        return [[edge[0] for edge in row if edge and not leaf[edge[0]]] for row in self.inputs]


def topological(targets: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int]:
    """Return what is reachable from `roots`, consumers first."""
    seen, finished, stack = bytearray(len(targets)), [], list(roots)
    while stack:
        op = stack.pop()
        if op < 0:
            finished.append(~op)
        elif not seen[op]:
            seen[op] = 1
            stack.append(~op)
            for target in targets[op]:
                if not seen[target]:
                    stack.append(target)
    finished.reverse()
    return finished


def dominators(ops: Sequence[int], targets: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int]:
    """Return the immediate dominator of each op, len(targets) being a node above all roots; `ops` stand consumers first.

    It is the lowest common ancestor of the consumers in the tree so far; jump pointers keep that at O(log n) on a chain of any length.
    """
    top = len(targets)
    parent = [top] * (top + 1)
    used = [*roots, *chain.from_iterable([targets[op] for op in ops])]
    if len(set(used)) == len(used):  # nothing is used twice, as in a loop over time: the only consumer it is
        for op in ops:
            for target in targets[op]:
                parent[target] = op
        return parent
    jump, depth = [top] * (top + 1), [0] * (top + 1)

    def meet(a: int, b: int) -> int:
        if depth[a] < depth[b]:
            a, b = b, a
        while depth[a] > depth[b]:
            a = jump[a] if depth[jump[a]] >= depth[b] else parent[a]
        while a != b:
            a, b = (jump[a], jump[b]) if jump[a] != jump[b] else (parent[a], parent[b])
        return a

    found = [-1] * top
    for root in roots:
        found[root] = top
    for op in ops:
        above = parent[op] = found[op]
        depth[op], far = depth[above] + 1, jump[above]
        jump[op] = jump[far] if depth[above] - depth[far] == depth[far] - depth[jump[far]] else above
        for target in targets[op]:
            found[target] = op if found[target] < 0 else meet(found[target], op)
    return parent


def weighed(nodes: Columns, ops: Sequence[int], parent: Sequence[int]) -> Callable[[int], tuple[int, int]]:
    """Return what weighs an op: the size of what it dominates, in powers of two from 16 on; then the greatest size in its place anywhere.

    By exact size the last step of a loop would be ordered unlike the others: what follows it is no longer heavier than its side branches.
    """
    labels, inputs = nodes.labels, nodes.inputs
    size, largest = [0] * (len(inputs) + 1), dict[tuple | None, int]()
    place: list[tuple | None] = [None] * len(inputs)
    for op in reversed(ops):
        size[op] += 1
        size[parent[op]] += size[op]
    for op in ops:
        if size[op] > largest.get(place[op], 0):
            largest[place[op]] = size[op]
        for position, edge in enumerate(inputs[op]):
            if edge and place[edge[0]] is None:
                place[edge[0]] = labels[op], position, labels[edge[0]]
    return lambda op: ((size[op] >> 4).bit_length(), largest[place[op]])


def print_order(nodes: Columns, roots: Sequence[int]) -> list[int]:
    """Return the ops reachable from `roots`: consumers first, what an op dominates right after it, lighter branches first."""
    roots = [root for root in dict.fromkeys(roots) if not nodes.leaf[root]]
    targets, top = nodes.targets, len(nodes.inputs)
    ops = topological(targets, roots)
    parent = dominators(ops, targets, roots)
    weight, serial = weighed(nodes, ops, parent), count()
    branches, waiting = Counter([parent[op] for op in ops]), Counter(chain.from_iterable([targets[op] for op in ops]))
    ready, order, stack = defaultdict(list), [], [top]
    ready[top] = sorted((*weight(root), next(serial), root) for root in roots if not waiting[root])
    while stack:
        if not ready[stack[-1]]:
            stack.pop()
            continue
        op: int | None = heappop(ready[stack[-1]])[-1]
        while op is not None:  # down a chain, most of a large graph, where there is nothing to choose from
            order.append(op)
            if branches[op] > 1:
                stack.append(op)
            below = None
            for target in targets[op]:
                waiting[target] -= 1
                if not waiting[target]:
                    if branches[op] == 1 and parent[target] == op:
                        below = target
                    else:
                        heappush(ready[parent[target]], (*weight(target), next(serial), target))
            op = below
    return order
