"""step(y): backward one node at a time, with the numbers. Imports graphs, render, formulas, numerals, history.

The arithmetic is the engine's own: hooks on the nodes see what it computes, for a gradient that is asked for beside `.grad`.
"""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from gradrepl.graphs import capture
from gradrepl.graphs.collection import collection_paused
from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.model import BackwardStep, Graph, Node
from gradrepl.graphs.observations import unwatched
from gradrepl.graphs.protocol import is_tensor, node_type
from gradrepl.graphs.roots import tensors_in
from gradrepl.insight.formulas import filled, formula_for, mathematics, real
from gradrepl.insight.history import HISTORY
from gradrepl.insight.numerals import array_of, numbers
from gradrepl.insight.places import spelled

BROADCASTS = re.compile(
    r"(Add|Sub|Rsub|Mul|Div|Pow|Where|Maximum|Minimum|Atan2|Lerp)Backward\d"
)  # PyTorch's own sum the gradient down before a hook sees it
LETTER, LINE = 5.5, 12  # width of a letter and height of a line below a picture, in points
MOST_MOVES = 100  # that are printed
MOST_FRAMES = 60  # nodes of a graph that is drawn once per step


@dataclass(frozen=True)
class Flow:
    """What a node sends to one of its inputs."""

    input: str  # the argument's name, as the formula calls it
    target: str  # id of the node or leaf it goes to
    formula: str  # as it runs
    reading: str  # the mathematics of it
    gradient: Any  # array
    note: str = ""  # "summed to (3,)"
    values: dict = field(default_factory=dict, repr=False, compare=False)  # name in the formula -> array or number

    @property
    def filled(self) -> str:
        """The formula with numbers in."""
        return filled(self.reading, self.values)

    def __str__(self) -> str:
        value = numbers(self.gradient, 12)
        return (f"{self.filled} = {value}" if self.filled else value) + (f"  ({self.note})" if self.note else "")


@dataclass(frozen=True)
class Move:
    """One node's turn: what came in, what goes out. For a leaf: what is accumulated."""

    number: int
    node: Node
    incoming: tuple[Any, ...]
    flows: tuple[Flow, ...] = ()
    before: Any = None  # a leaf's .grad

    @property
    def finite(self) -> bool:
        arrays = [*self.incoming, *(flow.gradient for flow in self.flows)]
        return all(a is None or bool(np.isfinite(a).all()) for a in arrays)

    @property
    def title(self) -> str:
        names = "" if self.node.leaf else "".join(f"  {name}" for name in self.node.names[:1])
        return f"{'leaf ' + self.node.title if self.node.leaf else self.node.name} {self.node.id}{names}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What happens, line by line."""
        came = ", ".join(numbers(g, 12) for g in self.incoming)
        if self.node.leaf:
            start = "None" if self.before is None else numbers(self.before, 12)
            total = self.incoming[0] if self.before is None else self.before + self.incoming[0]
            return (f"gradient {came}", f"backward() would make {self.node.title}.grad of {start}: {numbers(total, 12)}")
        width = max([4, *(len(flow.input) for flow in self.flows)])
        lines = [f"{'grad':{width}}  {came}"]
        for flow in self.flows:
            if flow.formula:
                lines.append(f"{flow.input:{width}}  {flow.formula}")
            if flow.reading != flow.formula:
                lines.append(f"{'':{width}}  {flow.reading}")
            lines.append(f"{'' if flow.formula else flow.input:{width}}  {flow}  -> {flow.target}")
        return tuple(lines)

    def __str__(self) -> str:
        source = self.node.source
        where = f"    {source.text}  ({spelled(source.filename, source.line)})" if source and source.text else ""
        bad = "" if self.finite else "    ! not finite"
        return "\n".join([f"{self.number}. {self.title}{where}{bad}", *(f"   {line}" for line in self.lines)])


@dataclass(frozen=True)
class Walk:
    """A backward pass, move by move."""

    graph: Graph
    moves: tuple[Move, ...]
    gradients: dict[str, Any]  # leaf id -> its gradient from this pass

    def __len__(self) -> int:
        return len(self.moves)

    def __getitem__(self, number: int) -> Move:
        return self.moves[number]

    def __iter__(self) -> Iterator[Move]:
        return iter(self.moves)

    def until(self, id: str) -> Move:
        """Return the move of the node with this id."""
        for move in self.moves:
            if move.node.id == id:
                return move
        raise KeyError(f"no move of {id!r}; there are {', '.join(move.node.id for move in self.moves)}")

    @property
    def first_bad(self) -> Move | None:
        """The first move that sends or gets a number that is not finite."""
        return next((move for move in self.moves if not move.finite), None)

    def __str__(self) -> str:
        return "\n".join(map(str, self.shown))

    __repr__ = __str__

    @property
    def shown(self) -> list[Any]:
        """The moves, with the middle of a long pass left out."""
        left_out = len(self.moves) - MOST_MOVES
        if left_out <= 0:
            return list(self.moves)
        gap = f"… {left_out} more moves; index them, or save them as .txt"
        return [*self.moves[: MOST_MOVES - 20], gap, *self.moves[-20:]]

    def __rich__(self) -> Any:
        from rich.text import Text

        text = Text()
        for move in self.shown:
            first, *rest = str(move).split("\n")
            text.append(first + "\n", style="bold" if getattr(move, "finite", True) else "bold red")
            text.append("".join(f"{line}\n" for line in rest))
        text.rstrip()
        return text

    @property
    def stepped(self) -> Graph:
        """The graph with the moves in it, for the slider of the page."""
        steps = tuple(BackwardStep(move.node.id, move.title, move.lines) for move in self.moves)
        return dataclasses.replace(self.graph, steps=steps)

    def _repr_html_(self) -> str:
        """A page with a slider, framed for a notebook."""
        from gradrepl.render.html import to_html

        return f'<iframe srcdoc="{escape(to_html(self.stepped))}" width="100%" height="560" frameborder="0"></iframe>'

    def save(self, path: Any) -> list[Path]:
        """Write the moves: `.html` gives a page with a slider, `.svg` one picture per move (name-01.svg, …), `.txt` the text."""
        from gradrepl.render import save
        from gradrepl.render.files import write

        path = Path(path).expanduser()
        if path.suffix == ".html":
            return [Path(save(self.stepped, path))]
        if path.suffix == ".txt":
            write(path, "".join(f"{move}\n" for move in self.moves).encode())
            return [path]
        if path.suffix != ".svg":
            raise GraphError(f"steps are written as .html, .svg or .txt, not {path.suffix or 'without a suffix'}")
        return self.strip(path)

    def strip(self, path: Path) -> list[Path]:
        if len(self.graph.nodes) > MOST_FRAMES:
            raise GraphError(f"{len(self.graph.nodes)} nodes are too many for a picture per step; save('steps.html') has a slider")
        from gradrepl.render.files import write
        from gradrepl.render.svg import to_svg

        drawn = to_svg(self.graph.drawn(fold=False))
        width = len(str(len(self.moves)))
        written = []
        for place, move in enumerate(self.moves):
            target = path.with_name(f"{path.stem}-{move.number:0{width}}{path.suffix}")
            write(target, marked(drawn, move.node.id, [m.node.id for m in self.moves[:place]], [move.title, *move.lines]).encode())
            written.append(target)
        return written

    def interact(self, read: Any = None, write: Any = None) -> None:
        """Go through the moves at a prompt: next, back, until ID, run, quit."""
        from gradrepl.insight.stepper import Stepper

        Stepper(self, read or input, write or print).run()


def marked(svg: str, now: str, past: list[str], lines: list[str]) -> str:
    """A picture with one card marked, the finished ones pale, and the move written below it."""
    done = ",".join(f"#{id}" for id in past if id != now)
    style = f"#{now} path,#{now} polygon,#{now} ellipse{{stroke-width:3.5px}}" + (f"{done}{{opacity:.45}}" if done else "")
    width, height = map(float, re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', svg).groups())  # type: ignore[union-attr]
    wide, high = max(width, 12 + LETTER * max(map(len, lines))), height + LINE * (len(lines) + 1)
    spans = "".join(f'<tspan x="6" dy="{LINE}">{escape(line)}</tspan>' for line in lines)
    text = f'<text y="{height:.0f}" xml:space="preserve" font-family="monospace" font-size="9" fill="#6E7781">{spans}</text>'
    svg = re.sub(r'viewBox="[^"]*"', f'viewBox="0 0 {wide:.0f} {high:.0f}"', svg, count=1)
    svg = re.sub(r'width="\d+" height="\d+"', f'width="{wide * 4 / 3:.0f}" height="{high * 4 / 3:.0f}"', svg, count=1)
    head, tail = svg.split(">", 1)
    return f"{head}>\n<style>{style}</style>{tail}".replace("</svg>", f"{text}</svg>")


def step(y: Any, gradient: Any = None, *, keep: bool = False, names: Any = None) -> Walk:
    """Go through backward from `y` one node at a time: incoming gradient, formula, the formula with numbers, what goes out.

    `gradient` is what backward starts with; a scalar needs none. The engine's own arithmetic is shown; the graph is kept and `.grad` stays
    as it was, unless `keep=True` adds the gradients to it. Hooks of the program run, as they do in backward().

    >>> from gradrepl import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> print(*step(x ** 2, names={"x": x})[0].lines, sep="\\n")
    grad  1
    self  pow_backward(grad, self, exponent)
          grad * exponent * self ** (exponent - 1)
          1 * 2 * 3 ** (2 - 1) = 6  -> n2
    """
    frame = sys._getframe(1)
    roots = [thing for _, thing in tensors_in(y) if not is_tensor(thing) or thing.requires_grad]
    check_start(roots, gradient)
    captured = capture(y, names=names, _frame=frame, saved=True, values=True)
    since = HISTORY.now
    recorder = Recorder(captured, roots)
    try:
        with unwatched(), collection_paused():
            totals = recorder.run(gradient)
    except RuntimeError as error:
        if "a second time" in str(error):
            raise GraphError("backward() has freed this graph: compute it again, or keep it with backward(retain_graph=True)") from None
        raise
    finally:
        HISTORY.rewind(since)
    if keep:
        for leaf, total in zip(recorder.leaves, recorder.totals, strict=True):
            if total is not None:
                leaf.grad = total if leaf.grad is None else leaf.grad + total
    return Walk(captured.graph, tuple(recorder.moves), totals)


def check_start(roots: list, gradient: Any) -> None:
    """Refuse as backward does to start at several numbers without a gradient: before the graph is read, which may be large."""
    for root, start in zip_longest(roots, listed(gradient) or ()):
        size = root.numel() if is_tensor(root) else math.prod(root._input_metadata[0].shape)
        if start is None and size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")


def listed(gradient: Any) -> list | None:
    return None if gradient is None else list(gradient) if isinstance(gradient, (list, tuple)) else [gradient]


class Recorder:
    """Hooks on the nodes of a graph, which note what the engine sends through them."""

    def __init__(self, captured: Any, roots: list):
        self.graph, self.functions, self.roots = captured.graph, captured.functions, roots
        self.moves: list[Move] = []
        self.leaf_nodes = [n for n in self.graph.nodes if n.leaf]
        self.leaves = [variable(self.functions[n.id]) for n in self.leaf_nodes]
        self.waiting = {n.id: n.uses for n in self.leaf_nodes}
        self.arrived: set[str] = set()
        self.totals: tuple = ()
        self.raw: list[tuple[Node, Any, Any, dict]] = []

    def run(self, gradient: Any) -> dict[str, Any]:
        """Send gradients back once; {leaf id: its gradient}."""
        kept = [(t, t.grad) for t in self.retaining()]
        handles = [f.register_hook(self.hook(id, f)) for id, f in self.functions.items() if not hasattr(f, "variable") and not is_tensor(f)]
        try:
            self.totals = differentiate(self.roots, self.leaves, gradient)
        finally:
            for handle in handles:
                handle.remove()
            for tensor, grad in kept:
                tensor.grad = grad
        found = {n.id: array_of(t) for n, t in zip(self.leaf_nodes, self.totals, strict=True) if t is not None}
        for node, incoming, outgoing, saved in self.raw:
            self.move(node, incoming, outgoing, saved, found)
        for node in self.leaf_nodes:  # a root that is a leaf itself
            if self.waiting[node.id] == 0 and node.id not in self.arrived and node.id in found:
                self.arrive(node, found)
        return found

    def retaining(self) -> list:
        """Intermediate tensors whose .grad the pass would overwrite."""
        return [t for t in self.roots if is_tensor(t) and not t.is_leaf and t.retains_grad]

    def hook(self, id: str, function: Any) -> Any:
        node = self.graph[id]

        def note(outgoing: Any, incoming: Any) -> None:
            saved = saved_values(function)
            self.raw.append((node, tuple(map(array_of, incoming)), tuple(map(array_of, outgoing)), saved))

        return note

    def move(self, node: Node, incoming: tuple, outgoing: tuple, saved: dict, found: dict) -> None:
        values = {"grad": incoming[0], **saved}
        flows = [
            self.flow(node, place, edge, sent, values)
            for place, (edge, sent) in enumerate(zip(node.inputs, outgoing))
            if edge and sent is not None
        ]
        self.moves.append(Move(len(self.moves) + 1, node, incoming, tuple(flows)))
        for edge in node.inputs:
            target = self.graph.nodes[edge[0]] if edge else None
            if target is not None and target.leaf:
                self.waiting[target.id] -= 1
                if not self.waiting[target.id] and target.id in found:
                    self.arrive(target, found)

    def flow(self, node: Node, place: int, edge: tuple[int, int], sent: Any, values: dict) -> Flow:
        target = self.graph.nodes[edge[0]]
        name, formula = formula_for(node.name, place, len(node.inputs))
        shape = target.outputs[edge[1]].shape if edge[1] < len(target.outputs) else None
        note = ""
        if shape is not None and np.shape(sent) != shape and np.size(sent) >= int(np.prod(shape)):
            sent, note = summed_to(sent, shape), f"summed to {shape}"
        elif shape is not None and BROADCASTS.match(node.name) and values["grad"] is not None and np.size(values["grad"]) > np.size(sent):
            note = f"summed to {shape}"
        if node.kind == "custom":
            name, formula = f"input {place}", f"{node.name.removesuffix('Backward')}.backward(ctx, grad)"
        count = int(np.prod(shape)) if shape is not None else 1
        text = real(formula) if sent.dtype.kind != "c" else formula
        reading = mathematics(text)
        return Flow(name or f"input {place}", target.id, text, reading, sent, note, values | {"n": count})

    def arrive(self, node: Node, found: dict) -> None:
        leaf = variable(self.functions[node.id])
        self.arrived.add(node.id)
        self.moves.append(Move(len(self.moves) + 1, node, (found[node.id],), before=array_of(leaf.grad)))


def variable(function: Any) -> Any:
    return function if is_tensor(function) else function.variable


def saved_values(function: Any) -> dict[str, Any]:
    """What a node has saved, by the names that formulas use; what cannot be read any more is left out."""
    kind = node_type(function)
    found = {}
    for name in (*kind.plain, *(name for name, _, _ in kind.tensors)):
        try:
            value = getattr(function, name)
        except RuntimeError:
            continue
        found[name.removeprefix("_saved_")] = array_of(value) if is_tensor(value) else value
    return found


def summed_to(array: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting, as the engine does after a formula."""
    array = array.sum(axis=tuple(range(array.ndim - len(shape)))) if array.ndim > len(shape) else array
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 != array.shape[i])
    return array.sum(axis=stretched, keepdims=True) if stretched else array


def differentiate(roots: list, leaves: list, gradient: Any) -> tuple:
    """The gradients of the leaves, with the engine that the tensors belong to; the graph is kept, .grad is left alone."""
    from importlib import import_module

    from gradrepl.insight.observer import engine_of

    engine = import_module("gradrepl.torch.autograd" if engine_of(roots[0]) == "embedded" else "torch.autograd")
    outputs = [root if is_tensor(root) else engine.graph.GradientEdge(root, 0) for root in roots]
    return engine.grad(outputs, leaves, grad_outputs=listed(gradient), retain_graph=True, allow_unused=True)
