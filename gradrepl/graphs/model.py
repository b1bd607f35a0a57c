"""A graph as plain frozen data. Imports nothing of the project; saving and showing go through the public functions of gradrepl."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple


class Value(NamedTuple):
    """What is known of the numbers in a tensor."""

    text: str  # short
    item: Any = None  # the number, if there is only one
    nan: int = 0
    inf: int = 0


class Output(NamedTuple):
    """A tensor that a node produced (or a leaf), as far as it is known."""

    shape: tuple[int, ...] | None
    dtype: str = ""
    device: str = "cpu"
    names: tuple[str, ...] = ()
    value: Value | None = None
    grad: Value | None = None
    retains_grad: bool = False
    hooks: int = 0


class Source(NamedTuple):
    """A line of the program."""

    filename: str
    line: int
    text: str = ""


class Cut(NamedTuple):
    """Why no graph hangs under a tensor."""

    reason: str  # "detach()", "under no_grad", "" if not known
    source: Source | None = None


class Saved(NamedTuple):
    """A tensor that a node keeps for backward."""

    slots: tuple[str, ...]  # "self", "other", "tensors[1]": all that hold this one tensor
    state: str = "held"  # or "freed", "packed" (behind a hook that was not called), "unread" (nor can be, without calling hooks)
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    bytes: int | None = None
    names: tuple[str, ...] = ()
    source: tuple[int, int] | None = None  # (place of its producer in Graph.nodes, output number)
    constant: bool = False  # requires no gradient
    version: int | None = None  # now
    expected: int | None = None  # when saved, if that differs
    value: Value | None = None
    cut: Cut | None = None  # a constant: what took its graph away, if that was seen


@dataclass(frozen=True, slots=True)
class Node:
    """An op that was recorded, or a leaf (with its AccumulateGrad)."""

    id: str  # n1, n2, ... in print order
    kind: str  # "op", "custom", "inplace" (a write through a view) or "leaf"
    name: str  # MulBackward0; AccumulateGrad for a leaf
    outputs: tuple[Output, ...]
    inputs: tuple[tuple[int, int] | None, ...] = ()  # (place in Graph.nodes, output number); None: a constant
    uses: int = 0
    arguments: tuple[tuple[str, Any], ...] = ()  # what the op was called with besides tensors
    saved: tuple[Saved, ...] = ()
    has_grad: bool | None = None  # a leaf: is its `.grad` set?
    source: Source | None = None  # the line that ran the op
    defined: Source | None = None  # where a custom Function stands
    scope: tuple[str, ...] = ()  # the modules that ran the op, outermost first
    inner: str = ""  # what a write through a view did
    faults: tuple[str, ...] = ()  # what is wrong with it, in sentences
    sequence: int = field(default=0, compare=False)  # grows with the order of execution

    @property
    def leaf(self) -> bool:
        return self.kind == "leaf"

    @property
    def names(self) -> tuple[str, ...]:
        """All names of its tensors."""
        return tuple(name for output in self.outputs for name in output.names)

    @property
    def title(self) -> str:
        """What a person calls it: the first name of a leaf, the name of an op."""
        return (self.names or ("leaf",))[0] if self.leaf else self.name


@cache
def thawed() -> type:
    """Return a class with the fields of Node that is made in a fifth of the time: a frozen one sets each field by a call.

    What it makes goes through `frozen`. That saves a sixth of a walk.
    """
    fields = [(each.name, each.type, field(default=each.default)) for each in dataclasses.fields(Node)]
    return dataclasses.make_dataclass("ThawedNode", fields, slots=True)


def frozen(made: list[Any]) -> tuple[Node, ...]:
    """Declare instances of `thawed()` to be what they look like: a Node each, which has the same slots."""
    for node in made:
        node.__class__ = Node
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow from a node to where its gradient goes next."""

    source: str
    target: str
    input: int  # position in next_functions of the source
    output: int = 0  # output number of the target


@dataclass(frozen=True, slots=True)
class Root:
    """A tensor (or grad_fn) that was asked about."""

    id: str  # r1, r2, ...
    path: str  # where in the nest: "", "[0]", "['loss']"
    tensor: Output | None  # None: a grad_fn was given
    node: int | None  # place in Graph.nodes; None: no graph hangs here
    output: int = 0
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """How a graph is to be drawn."""

    fold: bool | tuple[str, ...] = True  # True: repeats as one card; False: everything; ids: these folds opened
    flow: str = "backward"  # arrows along the gradient, or "forward"
    saved: bool | None = None  # None: if the graph is small
    values: bool | None = None  # None: if the graph is small and all numbers are scalars
    labels: str = "backward"  # MulBackward0, or "forward": mul
    constants: bool = False
    group: str | None = None  # "module"
    theme: str = "auto"  # or "light", "dark"


class BackwardStep(NamedTuple):
    """One node's turn in a backward pass, as a page tells it."""

    node: str  # its id
    title: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graph:
    """What hangs under some tensors: `nodes` in print order, consumers first, and how it is to be drawn."""

    roots: tuple[Root, ...]
    nodes: tuple[Node, ...]
    look: Look = Look()
    notes: tuple[str, ...] = ()  # what the reader should know of it, in sentences
    steps: tuple[BackwardStep, ...] = ()  # of a backward pass, for a page to go through

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        nodes = self.nodes
        return tuple(
            Edge(node.id, nodes[edge[0]].id, position, edge[1]) for node in nodes for position, edge in enumerate(node.inputs) if edge
        )

    @cached_property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    def __getitem__(self, id: str) -> Node:
        return self.by_id[id]

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        leaves = sum(node.leaf for node in self.nodes)
        return f"<Graph: {count(len(self.nodes) - leaves, 'op')}, {count(leaves, 'leaf', 'leaves')}, {count(len(self.roots), 'root')}>"

    def drawn(self, **look: Any) -> Graph:
        """Return the same graph to be drawn otherwise: any field of Look as a keyword."""
        return dataclasses.replace(self, look=dataclasses.replace(self.look, **look)) if look else self

    def save(self, path: Any, **look: Any) -> Any:
        """Write the picture to `path`; its suffix names the format: svg, png, pdf, dot, html, mmd, json or txt."""
        import gradrepl

        return gradrepl.save(self, path, **look)

    def tree(self, **options: Any) -> Any:
        """Return the graph as a tree for the terminal."""
        import gradrepl

        return gradrepl.tree(self, **options)

    def __rich__(self) -> Any:
        return self.tree()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from importlib import import_module

        return import_module("gradrepl").mimebundle(self)


def count(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
