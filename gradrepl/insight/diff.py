"""diff(a, b): two graphs side by side, aligned from the leaves: what was added, removed, reshaped. Imports graphs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from gradrepl.graphs import capture
from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.model import Graph, Node
from gradrepl.insight.numerals import counted
from gradrepl.insight.places import spelled

MOST_LINES = 40
MOST_PAIRS = 4_000_000  # of ops that are compared with each other


@dataclass(frozen=True)
class Change:
    """One difference: "removed" (only in a), "added" (only in b), "reshaped", "argument" or "input" (in both)."""

    kind: str
    before: Node | None
    after: Node | None
    note: str = ""

    def __str__(self) -> str:
        sign = {"removed": "-", "added": "+"}.get(self.kind, "~")
        node = self.before or self.after
        assert node is not None
        where = f"  {spelled(node.source.filename, node.source.line)}: {node.source.text}" if node.source and node.source.text else ""
        names = "" if node.leaf or not node.names else f" {node.names[0]}"
        return f"{sign} {'leaf ' + node.title if node.leaf else node.name} {node.id}{names}{f'  {self.note}' if self.note else ''}{where}"


@dataclass(frozen=True)
class Difference:
    """What distinguishes two graphs. False if nothing does."""

    a: Graph
    b: Graph
    changes: tuple[Change, ...]
    same: int  # nodes that are in both

    def __bool__(self) -> bool:
        return bool(self.changes)

    def of_kind(self, kind: str) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.kind == kind)

    def __str__(self) -> str:
        if not self.changes:
            return f"no difference: {counted(self.same, 'node is', 'nodes are')} the same in both"
        counts = ", ".join(
            f"{len(self.of_kind(kind))} {kind}" for kind in ("removed", "added", "reshaped", "argument", "input") if self.of_kind(kind)
        )
        head = f"{counted(len(self.a), 'node')}, then {len(self.b)}: {counts}, {self.same} the same"
        lines = [str(change) for change in self.changes[:MOST_LINES]]
        rest = [f"… and {len(self.changes) - MOST_LINES} more"] * (len(self.changes) > MOST_LINES)
        return "\n".join([head, *lines, *rest, *self.conclusions()])

    __repr__ = __str__

    def conclusions(self) -> list[str]:
        """What the changes mean, where that can be told."""
        found = []
        lost = [c.before.title for c in self.of_kind("removed") if c.before and c.before.leaf and c.before.title != "leaf"]
        if lost:
            found.append(f"{', '.join(lost)} can no longer be reached: no gradient comes there")
        gained = [c.after.title for c in self.of_kind("added") if c.after and c.after.leaf and c.after.title != "leaf"]
        if gained:
            found.append(f"{', '.join(gained)} can be reached now")
        ops = len([c for c in self.of_kind("added") if c.after and not c.after.leaf])
        if ops and not self.of_kind("removed") and self.same >= ops:
            found.append(
                f"the graph has grown by {counted(ops, 'op')} on top of all it had: if that goes on from step to step, "
                "something carries its history along"
            )
        return found

    def __rich__(self) -> Any:
        from rich.text import Text

        styles = {"-": "red", "+": "green", "~": "yellow"}
        text = Text()
        for line in str(self).split("\n"):
            text.append(line + "\n", style=styles.get(line[:1], "bold"))
        text.rstrip()
        return text


def diff(a: Any, b: Any, *, names: Any = None) -> Difference:
    """Compare two graphs: tensors, grad_fns, nests of them, or Graphs (`graph(y)` keeps one from before).

    >>> from gradrepl import torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> h = (w * 2).tanh()
    >>> print(str(diff((h * w).sum(), (h.detach() * w).sum(), names={"w": w})).split("\\n")[0])
    5 nodes, then 3: 2 removed, 1 input, 2 the same
    """
    frame = sys._getframe(1)
    left, right = (thing if isinstance(thing, Graph) else capture(thing, names=names, _frame=frame).graph for thing in (a, b))
    if not left.nodes or not right.nodes:
        raise GraphError("one of the two has no graph to compare")
    return compare(left, right)


def compare(a: Graph, b: Graph) -> Difference:
    """Align the ops by the order of execution, which begins at the leaves; the leaves by their names."""
    changes, same = leaf_changes(a, b)
    left, right = ops_of(a), ops_of(b)
    for kind, i, j, k, m in aligned([n.name for n in left], [n.name for n in right]):
        if kind == "equal":
            for one, other in zip(left[i:j], right[k:m]):
                changed = inner_changes(one, other) + input_changes(a, one, b, other)
                changes += changed
                same += not changed
        else:
            changes += [Change("removed", node, None, shapes(node)) for node in left[i:j]]
            changes += [Change("added", None, node, shapes(node)) for node in right[k:m]]
    return Difference(a, b, tuple(changes), same)


def aligned(left: list[str], right: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """As SequenceMatcher gives it; of long graphs, where that would take minutes, only what is the same at both ends is aligned."""
    if len(left) * len(right) <= MOST_PAIRS:
        yield from SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        return
    short = min(len(left), len(right))
    head = next((i for i in range(short) if left[i] != right[i]), short)
    tail = next((i for i in range(short - head) if left[-1 - i] != right[-1 - i]), short - head)
    yield "equal", 0, head, 0, head
    yield "replace", head, len(left) - tail, head, len(right) - tail
    yield "equal", len(left) - tail, len(left), len(right) - tail, len(right)


def ops_of(graph: Graph) -> list[Node]:
    """The ops in the order of execution."""
    ops = [node for node in reversed(graph.nodes) if not node.leaf]
    return sorted(ops, key=lambda node: node.sequence)


def input_changes(a: Graph, one: Node, b: Graph, other: Node) -> list[Change]:
    """Where an op takes another kind of input: an op, a leaf, or a constant."""
    before, after = inputs_of(a, one), inputs_of(b, other)
    told = [f"input {place}: {was} -> {now}" for place, (was, now) in enumerate(zip(before, after)) if was != now]
    return [Change("input", one, other, ", ".join(told))] if told else []


def inputs_of(graph: Graph, node: Node) -> list[str]:
    return [(f"leaf {graph.nodes[e[0]].title}" if graph.nodes[e[0]].leaf else "an op") if e else "a constant" for e in node.inputs]


def leaf_changes(a: Graph, b: Graph) -> tuple[list[Change], int]:
    left, right = ([n for n in graph.nodes if n.leaf] for graph in (a, b))
    named = {n.title: n for n in right if n.names}
    changes, same, matched = [], 0, set()
    for node in left:
        other = (
            named.get(node.title)
            if node.names
            else next((n for n in right if not n.names and n.outputs == node.outputs and n.id not in matched), None)
        )
        if other is None:
            changes.append(Change("removed", node, None, shapes(node)))
            continue
        matched.add(other.id)
        changed = inner_changes(node, other)
        changes += changed
        same += not changed
    changes += [Change("added", None, node, shapes(node)) for node in right if node.id not in matched]
    return changes, same


def inner_changes(one: Node, other: Node) -> list[Change]:
    """What is different between two nodes that stand in the same place."""
    if [o.shape for o in one.outputs] != [o.shape for o in other.outputs]:
        return [Change("reshaped", one, other, f"{shapes(one)} -> {shapes(other)}")]
    before, after = dict(one.arguments), dict(other.arguments)
    told = [
        f"{k} {before.get(k)} -> {after.get(k)}"
        for k in {**before, **after}
        if before.get(k) != after.get(k) and not k.endswith(("sizes", "numel", "strides"))
    ]
    return [Change("argument", one, other, ", ".join(told))] if told else []


def shapes(node: Node) -> str:
    return ", ".join(str(o.shape) for o in node.outputs if o.shape is not None)
