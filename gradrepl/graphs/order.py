"""Put the ops of a graph in an order in which repeated blocks are contiguous. Imports nothing of the project.

The order is that of the dominator tree: an op, then everything reachable only through it. What an op dominates is one interval, so a block
of a loop, a branch, a layer is one interval too, whatever order the program ran in. Lighter branches first: the loop goes on last.
"""

from collections import Counter
from collections.abc import Hashable
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple


class Item(NamedTuple):
    """A node as far as its place and its equality with others go."""

    label: Hashable  # whatever tells two nodes apart on the page, but no names of tensors
    inputs: tuple = ()  # (index of the node, its output number), or None for a constant
    leaf: bool = False
    numbers: tuple[int, ...] = ()  # integers that may grow by a constant step from block to block, as the 3 in x[3]
    text: str = ""  # its name in the title of a fold


def topological(nodes, roots):
    """Return {op: the ops among its inputs} for what is reachable from `roots`, consumers first."""
    targets, finished, stack = {}, [], list(roots)
    while stack:
        op = stack.pop()
        if op < 0:
            finished.append(~op)
        elif op not in targets:
            targets[op] = inputs = [edge[0] for edge in nodes[op].inputs if edge and not nodes[edge[0]].leaf]
            stack.append(~op)
            stack += [target for target in inputs if target not in targets]
    return {op: targets[op] for op in reversed(finished)}


def dominators(top, roots, targets):
    """Return a list: the immediate dominator of each op, `top` being a node above all roots.

    It is the lowest common ancestor of the consumers in the tree so far; jump pointers keep that at O(log n) on a chain of any length.
    """
    parent, jump, depth = [top] * (top + 1), [top] * (top + 1), [0] * (top + 1)

    def meet(a, b):
        if depth[a] < depth[b]:
            a, b = b, a
        while depth[a] > depth[b]:
            a = jump[a] if depth[jump[a]] >= depth[b] else parent[a]
        while a != b:
            a, b = (jump[a], jump[b]) if jump[a] != jump[b] else (parent[a], parent[b])
        return a

    found = dict.fromkeys(roots, top)
    for op, inputs in targets.items():
        above = parent[op] = found[op]
        depth[op], far = depth[above] + 1, jump[above]
        jump[op] = jump[far] if depth[above] - depth[far] == depth[far] - depth[jump[far]] else above
        for target in inputs:
            found[target] = meet(found[target], op) if target in found else op
    return parent


def weights(nodes, ops, parent):
    """Return {op: weight}: the size of what it dominates, in powers of two from 16 on; then the greatest size in its place anywhere.

    By exact size the last step of a loop would be ordered unlike the others: what follows it is no longer heavier than its side branches.
    """
    size, tokens, place, largest = [0] * (len(nodes) + 1), {}, {}, {}
    kinds = {op: tokens.setdefault(nodes[op].label, len(tokens)) for op in ops}  # numbers: hashing each label once saves half the time
    for op in reversed(ops):
        size[op] += 1
        size[parent[op]] += size[op]
    for op in ops:
        for position, edge in enumerate(nodes[op].inputs):
            if edge and edge[0] in kinds and edge[0] not in place:
                place[edge[0]] = kinds[op], position, kinds[edge[0]]
        where = place.get(op)
        largest[where] = max(size[op], largest.get(where, 0))
    return {op: ((size[op] >> 4).bit_length(), largest[place.get(op)]) for op in ops}


def print_order(nodes, roots):
    """Return the ops reachable from `roots`: consumers first, what an op dominates right after it, lighter branches first."""
    roots = [root for root in dict.fromkeys(roots) if not nodes[root].leaf]
    targets = topological(nodes, roots)
    parent = dominators(len(nodes), roots, targets)
    weight = weights(nodes, list(targets), parent)
    waiting = Counter(target for inputs in targets.values() for target in inputs)
    ready, serial, order, stack = {}, count(), [], [len(nodes)]
    ready[len(nodes)] = sorted((*weight[root], next(serial), root) for root in roots if root not in waiting)
    while stack:
        if not ready.get(stack[-1]):
            stack.pop()
            continue
        op = heappop(ready[stack[-1]])[-1]
        order.append(op)
        stack.append(op)
        for target in targets[op]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready.setdefault(parent[target], []), (*weight[target], next(serial), target))
    return order
