"""Walk over the nodes below some tensors, in a loop, and put down what is there as a Graph.

Knows tensors by PyTorch's public node protocol only, and changes nothing of the program. Imports its own package only.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from .collection import collection_paused
from .errors import GraphError
from .model import Graph, Look, Node, Output, Root, Saved, Value, frozen, thawed
from .names import Names
from .observations import Observation, any_observed, lookup, lookup_cut, unwatched
from .order import Columns, print_order
from .protocol import NodeType, has_fresh_grad_fn, is_tensor, node_type
from .reading import Kept, Reader, custom_source, itemsize, read_value, variable_of
from .roots import find_roots

SMALL = 60  # nodes up to which values of scalars are shown unasked
LOOKED_THROUGH = 1_000_000  # elements of a root that are looked through for NaN
ASKED_OF_CUTS = 300  # nodes up to which it is asked what cut the graph of each constant: the whole history is searched
READABLE = 2000  # nodes up to which what they keep is read unasked


class Capture(NamedTuple):
    """A graph, and what it was read from."""

    graph: Graph
    functions: dict[str, Any]  # node id -> grad_fn; for a leaf its AccumulateGrad, or the leaf itself if nothing but it was asked about
    roots: tuple[tuple[str, Any], ...]  # (path, tensor or grad_fn)


class Found(NamedTuple):
    """What is reachable, in the order of discovery."""

    functions: list  # grad_fn, or a leaf tensor that is a root
    kinds: list[NodeType]
    inputs: list[tuple[tuple[int, int] | None, ...]]
    index: dict[Any, int]  # type: ignore[assignment]
    leaves: dict[int, int]  # id of a leaf tensor -> index


NOTHING_SEEN, NO_FAULTS = Observation(), tuple[str, ...]()
LEAF = NodeType("leaf", "AccumulateGrad", (), ())


def discover(starts: list[Any]) -> Found:
    """Find all nodes that can be reached from `starts`: nodes, or leaf tensors."""
    functions: list[Any] = []
    kinds: list[NodeType] = []
    inputs: list[tuple[tuple[int, int] | None, ...]] = []
    index: dict[Any, int] = {}
    leaves: dict[int, int] = {}
    of_class: dict[type, NodeType] = {}
    for start in starts:
        if not is_tensor(start) and start not in index:
            index[start] = len(functions)
            functions.append(start)
    for function in functions:  # grows on the way
        kind = of_class.get(type(function))
        if kind is None:
            kind = of_class[type(function)] = node_type(function)
        kinds.append(kind)
        if kind.kind == "leaf":
            leaves[id(function.variable)] = len(kinds) - 1
            inputs.append(())
            continue
        row: list[tuple[int, int] | None] = []
        for target, output in function.next_functions:
            if target is None:
                row.append(None)
                continue
            place = index.get(target)
            if place is None:
                place = index[target] = len(functions)
                functions.append(target)
            row.append((place, output))
        inputs.append(tuple(row))
    for start in starts:
        if is_tensor(start) and id(start) not in leaves:
            leaves[id(start)] = len(functions)
            functions.append(start)
            kinds.append(LEAF)
            inputs.append(())
    return Found(functions, kinds, inputs, index, leaves)


def start_of(thing: Any) -> Any:
    """Where the walk begins: the grad_fn of a tensor, the tensor itself if it is a leaf, None if no graph hangs there."""
    if not is_tensor(thing):
        return thing
    return None if not thing.requires_grad else thing.grad_fn if thing.grad_fn is not None else thing


def capture(asked: Any, names: Names, look: Look) -> Capture:
    """Return the graph under what is asked about, and the live nodes by their ids.

    Raises GraphError if there is nothing to see.
    """
    asked_roots = find_roots(asked)
    with collection_paused(), unwatched():
        starts = [start_of(thing) for _, thing in asked_roots]
        if not any(start is not None for start in starts) and not any(lookup_cut(thing) for _, thing in asked_roots):
            raise GraphError(no_graph(asked_roots, names))
        return Builder(asked_roots, starts, names, look).capture()


def no_graph(roots: list[tuple[str, Any]], names: Names) -> str:
    path, tensor = roots[0]
    if len(roots) > 1:
        return f"no graph: none of the {len(roots)} tensors has a grad_fn or requires grad"
    name = (names.tensor(tensor) or (path or "this tensor",))[0]
    return f"{name} has no graph: grad_fn is None and requires_grad is False; make what it is computed from with requires_grad=True"


class Builder:
    """Turns what was found into a Graph: order, then one Node each."""

    def __init__(self, roots: list[tuple[str, Any]], starts: list[Any], names: Names, look: Look) -> None:
        self.asked, self.starts, self.names, self.look = roots, starts, names, look
        self.reader, self.thawed = Reader(), thawed()
        self.found = discover([start for start in starts if start is not None])
        self.root_tensors = {self.edge_of(thing): thing for _, thing in roots if is_tensor(thing) and thing.requires_grad}
        read = [self.reader.read(function, kind) for function, kind in zip(self.found.functions, self.found.kinds, strict=True)]
        self.outputs, self.kept, self.arguments = ([row[0] for row in read], [row[1] for row in read], [row[2] for row in read])
        self.order = self.print_order()
        self.place = [0] * len(self.order)
        for place, index in enumerate(self.order):
            self.place[index] = place
        self.reads_saved = bool(self.look.saved) or len(self.order) <= READABLE
        self.tells_saved = self.reads_saved or {each.versions for kept in self.kept for each in kept} - {None}
        self.values = self.wants_values()
        self.reads = self.values or any(is_spoilt(thing) for _, thing in self.asked if is_tensor(thing))
        self.known = self.kept_outputs() if self.reads else {}
        self.observed = any_observed()
        named = (self.found.index.get(node) for node, _ in names.tensors)
        self.told = {index for index, _ in self.root_tensors} | {index for index in named if index is not None}

    def kept_outputs(self) -> dict[tuple[int, int], Any]:
        """Tensors between the ops that some op keeps for backward."""
        known: dict[tuple[int, int], Any] = {}
        for index, kept in enumerate(self.kept):
            for each in kept:
                if each.tensor is None or each.versions:
                    continue
                edge = (index, 0) if each.slot == "result" else self.found_edge(each.tensor)
                if edge:
                    known.setdefault(edge, each.tensor)
        return known

    def found_edge(self, tensor: Any) -> tuple[int, int] | None:
        """The node, by index, and the output that a tensor came from."""
        index, output = self.found.leaves.get(id(tensor)), 0
        if index is None and tensor.requires_grad and has_fresh_grad_fn(tensor):
            index, output = self.found.index.get(tensor.grad_fn), tensor.output_nr
        return None if index is None else (index, output)

    def edge_of(self, tensor: Any) -> tuple[int, int]:
        start = start_of(tensor)
        return (self.found.leaves[id(start)], 0) if is_tensor(start) else (self.found.index[start], tensor.output_nr)

    def wants_values(self) -> bool:
        if self.look.values is not None:
            return self.look.values
        scalars = all(output.shape is not None and not any(size != 1 for size in output.shape) for row in self.outputs for output in row)
        return scalars and len(self.order) <= SMALL

    def print_order(self) -> list[int]:
        """The nodes in print order: an op, then the leaves that it is the first to use."""
        found, tokens = self.found, dict[tuple, int]()
        leaf = [kind.kind == "leaf" for kind in found.kinds]
        labels = [
            tokens.setdefault((kind.name, id(outputs), len(row)), len(tokens))  # equal outputs are one object
            for kind, outputs, row in zip(found.kinds, self.outputs, found.inputs, strict=True)
        ]
        roots = [found.leaves[id(start)] if is_tensor(start) else found.index[start] for start in self.starts if start is not None]
        order, unused = [], leaf.copy()
        for op in print_order(Columns(labels, found.inputs, leaf), roots):
            order.append(op)
            for edge in found.inputs[op]:
                if edge and unused[edge[0]]:
                    unused[edge[0]] = False
                    order.append(edge[0])
        return order + [root for root in dict.fromkeys(roots) if unused[root]]

    def capture(self) -> Capture:
        place, functions = self.place, [self.found.functions[index] for index in self.order]
        inputs = [tuple([edge and (place[edge[0]], edge[1]) for edge in self.found.inputs[index]]) for index in self.order]
        uses = Counter([edge[0] for row in inputs for edge in row if edge])
        made = [
            self.node(index, f"n{number + 1}", function, row, uses[number])
            for number, (index, function, row) in enumerate(zip(self.order, functions, inputs, strict=True))
        ]
        nodes, roots = frozen(made), self.roots()
        graph = Graph(roots, nodes, self.look, self.notes(nodes, roots))
        return Capture(graph, {node.id: function for node, function in zip(nodes, functions, strict=True)}, tuple(self.asked))

    def notes(self, nodes: tuple[Node, ...], roots: tuple[Root, ...]) -> tuple[str, ...]:
        named = any(node.names for node in nodes) or any(root.tensor and root.tensor.names for root in roots)
        return () if named or not self.names.given else (f"none of the {self.names.given} tensors in names= is in this graph",)

    def node(self, index: int, id: str, function: Any, inputs: tuple, uses: int) -> Any:
        kind = self.found.kinds[index]
        if kind.kind == "leaf":
            return self.leaf(index, id, uses, variable_of(function))
        outputs, kept = self.outputs[index], self.kept[index]
        saved, faults = self.saved(kept) if kept and self.tells_saved else ((), NO_FAULTS)
        seen = (lookup(function) if self.observed else None) or NOTHING_SEEN
        try:
            number = function._sequence_nr()
        except AttributeError:  # an older PyTorch
            number = 0
        if self.reads or index in self.told:
            outputs, more = self.named_outputs(function, index, seen)
            faults += more
        return self.thawed(
            id,
            kind.kind,
            kind.name,
            outputs,
            inputs,
            uses,
            self.arguments[index],
            saved,
            None,
            seen.source,
            custom_source(function) if kind.kind == "custom" else None,
            seen.scope,
            seen.inner,
            faults,
            number,
        )

    def leaf(self, index: int, id: str, uses: int, variable: Any) -> Any:
        output, faults = self.filled(self.outputs[index][0], variable, self.names.tensor(variable))
        return self.thawed(id, "leaf", "AccumulateGrad", (output,), uses=uses, has_grad=variable.grad is not None, faults=faults)

    def filled(self, output: Output, tensor: Any, names: tuple[str, ...] = ()) -> tuple[Output, tuple[str, ...]]:
        """Return the output with what the tensor itself tells, and what is wrong with it."""
        output, faults = self.valued(output, tensor)
        has_gradient = (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not None
        grad = read_value(tensor.grad) if self.reads and has_gradient else None
        hooks = len(getattr(tensor, "_backward_hooks", None) or ())
        retains = bool(not tensor.is_leaf and tensor.retains_grad)
        output = output._replace(names=names, grad=grad if self.values else None, retains_grad=retains, hooks=hooks)
        return output, faults + not_finite("gradient", grad)

    def valued(self, output: Output, tensor: Any) -> tuple[Output, tuple[str, ...]]:
        """Return the output with the numbers of the tensor, and how many of them are none."""
        value = read_value(tensor) if self.reads else None
        return output._replace(value=value) if self.values else output, not_finite("value", value)

    def named_outputs(self, function: Any, index: int, seen: Observation) -> tuple[tuple[Output, ...], tuple[str, ...]]:
        """The outputs of an op; a few have a name, are a root, or were seen."""
        outputs, faults = self.outputs[index], NO_FAULTS
        results = seen.results() if self.reads else ()
        for number in range(len(outputs)):
            tensor = self.root_tensors.get((index, number))
            if tensor is None:
                tensor = self.names.tensors.get((function, number))
            if tensor is not None:
                output, more = self.filled(outputs[number], tensor, self.names.edge(function, number) or self.names.tensor(tensor))
            elif self.reads:
                tensor = self.known.get((index, number), results[number] if number < len(results) else None)
                if not is_tensor(tensor):
                    continue
                output, more = self.valued(outputs[number], tensor)
            else:
                continue
            outputs, faults = (*outputs[:number], output, *outputs[number + 1 :]), faults + more
        return outputs, faults

    def saved(self, kept: list[Kept]) -> tuple[tuple[Saved, ...], tuple[str, ...]]:
        """What the node keeps, one entry for each tensor, and the writes that spoilt it."""
        faults = tuple(
            [f"saved {each.slot} was at version {each.versions[0]}, is now at {each.versions[1]}" for each in kept if each.versions]
        )
        if not self.reads_saved:
            return (), faults
        merged: dict[Any, Saved] = {}
        for each in kept:
            key = id(each.tensor) if each.tensor is not None else each.state
            if key in merged:
                merged[key] = merged[key]._replace(slots=(*merged[key].slots, each.slot))
            else:
                merged[key] = self.one_saved(each)
        return tuple(merged.values()), faults

    def one_saved(self, kept: Kept) -> Saved:
        slot, tensor, state, versions = kept
        if tensor is None:
            return Saved((slot,), state)
        output = self.reader.output(tensor)
        source = self.source(tensor)
        names = self.names.tensor(tensor)
        if not names and source:
            names = self.names.edge(self.found.functions[self.order[source[0]]], source[1])
        constant = not tensor.requires_grad and not slot.startswith("result")
        return Saved(
            (slot,),
            state,
            output.shape,
            output.dtype,
            tensor.numel() * itemsize(output.dtype),
            names,
            source,
            constant,
            tensor._version,
            versions[0] if versions else None,
            read_value(tensor) if self.values else None,
            lookup_cut(tensor) if constant and len(self.order) <= ASKED_OF_CUTS else None,
        )

    def source(self, tensor: Any) -> tuple[int, int] | None:
        """Where in the graph a saved tensor comes from."""
        edge = self.found_edge(tensor)
        return edge and (self.place[edge[0]], edge[1])

    def roots(self) -> tuple[Root, ...]:
        return tuple(
            self.root(number, path, thing, start) for number, ((path, thing), start) in enumerate(zip(self.asked, self.starts, strict=True))
        )

    def root(self, number: int, path: str, thing: Any, start: Any) -> Root:
        id = f"r{number + 1}"
        if not is_tensor(thing):
            return Root(id, path, None, self.place[self.found.index[start]])
        tensor, _ = self.filled(self.reader.output(thing), thing, self.names.tensor(thing))
        if start is None:
            return Root(id, path, tensor, None, 0, lookup_cut(thing))
        index, output = self.edge_of(thing)
        return Root(id, path, tensor, self.place[index], output)


def is_spoilt(tensor: Any) -> bool:
    """Does a root hold a number that is not finite?  Then it is worth looking where that began."""
    value = read_value(tensor) if tensor.numel() <= LOOKED_THROUGH else None
    return bool(value and (value.nan or value.inf))


def not_finite(what: str, value: Value | None) -> tuple[str, ...]:
    if not value or not (value.nan or value.inf):
        return ()
    counted = " and ".join(f"{number} {kind}" for number, kind in ((value.nan, "NaN"), (value.inf, "inf")) if number)
    return (f"{what} holds {counted}",)
