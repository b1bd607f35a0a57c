"""What can be known about a tensor that someone asks about: its names, its program, the graph it is in, the passes that were seen.

Imports history, places, observer, graphs, program, slicing.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from types import FrameType
from typing import Any

import numpy as np

from gradrepl.graphs import capture
from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.names import find_names
from gradrepl.graphs.protocol import has_fresh_grad_fn, is_tensor
from gradrepl.insight.causes.program import Source
from gradrepl.insight.causes.slicing import Hop, Slice
from gradrepl.insight.history import HISTORY, Arrival, Event, Pass, Step, Write
from gradrepl.insight.numerals import array_of
from gradrepl.insight.observer import engine_of, seen
from gradrepl.insight.places import Place, spelled


class Question:
    """A tensor, asked about from a frame."""

    def __init__(self, tensor: Any, frame: FrameType):
        self.tensor, self.frame = tensor, frame
        self.gradient: Any = None  # .grad, where there is one
        self.sent: dict[int, Any] | None = None  # what steps.arrived has added up
        self.namespace: dict[str, Any] = {**frame.f_globals, **frame.f_locals}
        self.names = find_names(None, frame)

    def variable(self, name: str) -> Any:
        """What the program has under a name, or None."""
        return self.namespace.get(name)

    # ---- names

    def name_of(self, tensor: Any) -> str:
        """What the program calls a tensor; "" if nothing."""
        found = self.names.tensor(tensor)
        return as_python(found[0]) if found else ""

    @cached_property
    def name(self) -> str:
        return self.name_of(self.tensor) or "this tensor"

    def node_name(self, node: Any, output: int = 0) -> str:
        found = self.names.edge(node, output)
        return found[0] if found else ""

    # ---- the program

    @cached_property
    def filename(self) -> str:
        """Where the program stands: the file or input that asks, or, if it has no source, the file of its module."""
        own = self.frame.f_code.co_filename
        return own if linecache.getlines(own) else str(self.variable("__file__") or own)

    @cached_property
    def source(self) -> Source:
        return Source(self.filename)

    def mine(self, place: tuple) -> bool:
        """Whether something was seen in this very program, and not in one that ran before."""
        return place[0].co_filename in self.files

    @cached_property
    def files(self) -> set[str]:
        loaded = {getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items()) if name != "__main__"}
        return loaded | {file.filename for file in self.source.files}

    def text(self, node: ast.AST) -> str:
        return self.source.text(node)

    def where(self, place: Place | ast.AST | None) -> str:
        """ "line 4", and the file or input if it is not the program's only one."""
        if place is None:
            return ""
        if isinstance(place, ast.AST):
            filename, line = self.source.owner[place].filename, place.lineno  # type: ignore[attr-defined]
        else:
            filename, line = place.filename, place.line
        elsewhere = filename != self.filename and len(self.source.files) == 1 and not filename.startswith("<")
        return spelled(filename, line) + (f" of {filename.rpartition('/')[2]}" if elsewhere else "")

    # ---- the graph

    @cached_property
    def passes(self) -> list[Pass]:
        return [p for p in HISTORY.passes if self.mine(p.place)]

    @cached_property
    def backwards(self) -> list[Pass]:
        return [p for p in self.passes if p.kind == "backward"]

    @cached_property
    def events(self) -> list[Event]:
        return [e for e in HISTORY.events if self.mine(e.place)]

    @cached_property
    def writes(self) -> list[Write]:
        return [w for w in HISTORY.writes if self.mine(w.place)]

    @cached_property
    def values(self) -> Any:
        """The gradient's values as an array."""
        return values_of(self.gradient)

    def gradient_written(self, since: int) -> Place | None:
        """Where .grad was last written in place or assigned, under whatever name, after that tick."""
        found: list[Event | Write] = [w for w in self.writes if same_storage(self.gradient, w)]
        found += [e for e in self.events if e.kind == "set grad" and e.tensor is self.tensor]
        last = max(found, key=lambda seen: seen.tick, default=None)
        return last.where if last and last.tick > since else None

    def event(self, tensor: Any, *kinds: str) -> Event | None:
        """The last call of these kinds on a tensor, or that made it."""
        found = [e for e in self.events if e.kind in kinds and (e.tensor is tensor or e.made is tensor)]
        return found[-1] if found else None

    @property
    def last_hook(self) -> Event | None:
        """The last tensor hook that was set."""
        return next((e for e in reversed(self.events) if e.kind == "register_hook"), None)

    def hook_on(self, key: int) -> Event | None:
        """The last hook that was set on the tensor which steps call by this key; the last of all if that tensor is gone."""
        hooks = [e for e in self.events if e.kind == "register_hook" and e.tensor is not None and key_of(e.tensor) == key]
        return hooks[-1] if hooks else self.last_hook

    @cached_property
    def backward_calls(self) -> list[ast.Call]:
        """The calls of backward in the source that a program of this text makes."""
        return self.source.calls("backward")

    @cached_property
    def root_expression(self) -> ast.AST | None:
        """What backward was called on, in the source: by the last call that gave this tensor its gradient, else by the last of all."""
        calls = self.backward_calls
        reached = [p for p, _ in self.arrivals if p.kind == "backward"] if self.gradient is not None else []
        if self.backwards:
            where = (reached or self.backwards)[-1].where
            line, filename = where.line, where.filename
            calls = [c for c in calls if c.lineno <= line <= (c.end_lineno or line) and self.source.owner[c].filename == filename] or calls
        if not calls:
            return None
        call = calls[-1]
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if receiver is None or self.text(receiver) in ("torch.autograd", "autograd"):
            return call.args[0] if call.args else None
        return receiver

    @cached_property
    def root(self) -> Any:
        """The tensor that backward was called on, if it still has a name."""
        expression = self.root_expression
        found = self.variable(expression.id) if isinstance(expression, ast.Name) else None
        if is_tensor(found):
            return found
        tensors = [t for t in self.namespace.values() if is_tensor(t) and t.requires_grad and has_fresh_grad_fn(t)]
        candidates = [t for t in tensors if t.grad_fn is not None and t.numel() == 1]
        return candidates[-1] if candidates and expression is None else None

    @property
    def root_name(self) -> str:
        expression = self.root_expression
        return self.text(expression) if expression is not None else self.name_of(self.root) or "the result"

    def graph(self, tensor: Any) -> Any:
        """The graph under a tensor with its live nodes; None if there is none."""
        try:
            return capture(tensor, names=self.namespace, saved=True, values=False)
        except GraphError:
            return None

    @cached_property
    def root_graph(self) -> Any:
        return None if self.root is None else self.graph(self.root)

    def leaves(self, graph: Any) -> list[Any]:
        """The leaves of a graph that can be named; none of no graph."""
        return [f.variable for f in graph.functions.values() if hasattr(f, "variable")] if graph else []

    def leaf_names(self, graph: Any) -> list[str]:
        return sorted({self.name_of(leaf) for leaf in self.leaves(graph)} - {""})

    @cached_property
    def ids(self) -> dict[int, str]:
        """Sequence number -> the id of a live node in the graph of the root: " n3"."""
        functions = self.root_graph.functions if self.root_graph else {}
        numbered = {id: getattr(function, "_sequence_nr", None) for id, function in functions.items()}
        return {number(): f" {id}" for id, number in numbered.items() if number is not None}

    def node_id(self, node: Any) -> str:
        return self.ids.get(node._sequence_nr(), "")

    def step_id(self, step: Step) -> str:
        return self.ids.get(step.key, "")

    def reaches(self, node: Any, tensor: Any) -> bool:
        """Whether a leaf lies under a node."""
        stack, visited = [node], set()
        while stack:
            node = stack.pop()
            if node is None or node in visited:
                continue
            visited.add(node)
            if getattr(node, "variable", None) is tensor or tensor.grad_fn is not None and node is tensor.grad_fn:
                return True
            stack += [below for below, _ in node.next_functions]
        return False

    @cached_property
    def arrivals(self) -> list[tuple[Pass, Arrival]]:
        """Every gradient that reached this tensor as a leaf."""
        return self.arrivals_of(self.tensor)

    def arrivals_of(self, leaf: Any) -> list[tuple[Pass, Arrival]]:
        return [(p, a) for p in self.passes for a in p.arrivals if a.leaf() is leaf]

    @cached_property
    def last(self) -> Pass | None:
        """The last pass that reached this tensor, else the last one."""
        found = [p for p, _ in self.arrivals if p.steps]
        return found[-1] if found else next((p for p in reversed(self.passes) if p.steps), None)

    @cached_property
    def on_path(self) -> list[Step]:
        """The steps of the last pass that lie between root and tensor, in the order they ran."""
        if self.last is None:
            return []
        target = self.key
        reached, found = {target}, []
        for step in reversed(self.last.steps):
            if step.key in reached or any(e and e[0] in reached for e in step.edges):
                reached.add(step.key)
                found.append(step)
        return found[::-1]

    @cached_property
    def key(self) -> int:
        """How steps call the tensor: by its node, or by itself if it is a leaf."""
        node = self.tensor.grad_fn
        return id(self.tensor) if node is None else node._sequence_nr()

    @cached_property
    def path_keys(self) -> set[int]:
        return {s.key for s in self.on_path} | {self.key}

    def toward(self, step: Step) -> list[int]:
        """The inputs of a step on the way to the tensor."""
        return [i for i, e in enumerate(step.edges) if e and e[0] in self.path_keys]

    @cached_property
    def last_steps(self) -> dict[int, Step]:
        """The steps of the last pass by their nodes."""
        return {step.key: step for step in self.last.steps} if self.last else {}

    def takes_part(self, tensor: Any) -> bool:
        """Whether a tensor belongs to the last pass that reached this one: what was done to any other has nothing to do with it."""
        if tensor is self.tensor or self.last is None:
            return True
        key = key_of(tensor)
        return key in self.last_steps or any(arrival.key == key for arrival in self.last.arrivals)

    # ---- the source behind the graph

    @cached_property
    def ways(self) -> list[tuple[Hop, ...]]:
        """The ways in the source from the root back to the tensor, with what each loses its history at."""
        return self.ways_from(self.root_expression)

    def ways_from(self, expression: ast.AST | None) -> list[tuple[Hop, ...]]:
        if expression is None or expression not in self.source.owner:
            return []
        found = self.slice
        return list(found.paths(expression, found.context_of(expression)))

    @property
    def slice(self) -> Slice:
        return Slice(self.source, self.namespace, self.tensor)

    def target_of(self, statement: ast.AST | None) -> str:
        """The name that a statement assigns to: `frozen` in `frozen = features.detach()`."""
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Name, ast.Attribute)):
            return self.text(statement.targets[0])
        return ""

    def made_at(self, tensor: Any) -> Place | None:
        kept = seen(tensor.grad_fn) if tensor.grad_fn is not None else None
        return kept.where if kept else None

    def definition(self, name: str) -> ast.AST | None:
        """The last statement that gives a name its value."""
        found = [d for d in self.source.definitions.get((None, name), []) if not d.partial]
        return found[-1].statement if found else None

    @cached_property
    def statement(self) -> Any:
        """The statement that made the tensor: the one where its node was recorded, or the last that assigns its name."""
        place = self.made_at(self.tensor)
        statement = place.statement if place else None
        made_here = statement is not None and statement in self.source.owner and self.target_of(statement) == self.name
        return statement if made_here else self.definition(self.name)

    def calls(self, *methods: str) -> Iterator[ast.Call]:
        return iter(self.source.calls(*methods))


def values_of(tensor: Any) -> Any:
    """A tensor's values as an array, also where NumPy cannot share them (bfloat16, sparse)."""
    found = array_of(tensor)
    return np.asarray(tensor.detach().tolist()) if found is None else found


def key_of(tensor: Any) -> int:
    """How the steps of a pass call a tensor: by its node, or by itself if it is a leaf."""
    node = tensor.grad_fn if has_fresh_grad_fn(tensor) else None
    return id(tensor) if node is None else node._sequence_nr()


def same_storage(tensor: Any, write: Write) -> bool:
    return write.storage is tensor.counter if engine_of(tensor) == "embedded" else write.storage == tensor.untyped_storage().data_ptr()


def call_at(source: Source, place: Place) -> ast.AST | None:
    """The expression of the source at a place."""
    position = place.position
    for file in source.files:
        if file.filename == place.filename:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.expr) and (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == (
                    position.line, position.end_line, position.column, position.end_column,
                ):  # fmt: skip
                    return node
    return None


def as_python(name: str) -> str:
    """A parameter's name as one writes it in a program.

    >>> as_python("model.0.weight"), as_python("net.layers.10.bias"), as_python("x")
    ('model[0].weight', 'net.layers[10].bias', 'x')
    """
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", name)
