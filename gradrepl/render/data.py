"""A graph as JSON, for other tools. Imports graphs and render only.

    {"schema": "gradrepl/graph/1",
     "roots": [{"id": "r1", "path": "", "names": ["y"], "shape": [3], "dtype": "float32", "node": "n1", "output": 0, "cut": {"reason": …}}],
     "nodes": [{"id": "n1", "kind": "op" | "custom" | "inplace" | "leaf", "name": "MulBackward0", "names": [],
                "outputs": [{"shape": [3], "dtype": "float32", "device": "cpu", "names": [], "value": {"text": …}, "grad": {"text": …}}],
                "inputs": [{"node": "n2", "output": 0, "name": "self"} | {"constant": true, "name": "other"}],
                "uses": 1, "arguments": {"dim": 1}, "formulas": {"self": "grad * other"},
                "saved": [{"slots": ["self"], "state": "held" | "freed" | "packed" | "unread",
                           "shape": [3], "dtype": …, "bytes": 12, "names": ["x"],
                           "node": "n2", "output": 0, "version": 0, "expected": 0}],
                "has_grad": false, "source": {"filename": …, "line": 3, "text": …}, "defined": …, "scope": [], "faults": []}],
     "edges": [{"source": "n1", "target": "n2", "input": 0, "output": 0}], "notes": []}

What is not known, and what is empty, is left out. Edges run along the gradient. Numbers that JSON cannot hold are texts: "nan", "inf".
"""

from __future__ import annotations

import json
import math
from collections.abc import Container
from typing import Any

from gradrepl.graphs.formulas import formulas
from gradrepl.graphs.model import Cut, Graph, Node, Output, Root, Saved

from .labels import input_name

SCHEMA = "gradrepl/graph/1"


def to_json(graph: Graph) -> str:
    """Return the JSON text, one node a line."""
    whole = as_data(graph)
    parts = []
    for key, value in whole.items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(dumped(item) for item in value)
            parts.append(f"{dumped(key)}: [\n  {rows}\n ]")
        else:
            parts.append(f"{dumped(key)}: {dumped(value)}")
    return "{" + ",\n ".join(parts) + "}\n"


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_data(graph: Graph, only: Container[str] | None = None) -> dict[str, Any]:
    """Return the graph as what JSON holds, with all nodes or with those whose ids are in `only`."""
    nodes = [node for node in graph.nodes if only is None or node.id in only]
    edges = [edge for edge in graph.edges if only is None or edge.source in only and edge.target in only]
    return {
        "schema": SCHEMA,
        "roots": [root_data(root, graph) for root in graph.roots],
        "nodes": [node_data(node, graph) for node in nodes],
        "edges": [{"source": edge.source, "target": edge.target, "input": edge.input, "output": edge.output} for edge in edges],
        "notes": list(graph.notes),
    }


def known(**fields: Any) -> dict[str, Any]:
    """The fields that hold something: 0 and False count, None and what is empty do not."""
    return {name: value for name, value in fields.items() if value not in (None, [], {}, "") or name == "shape" and value is not None}


def root_data(root: Root, graph: Graph) -> dict[str, Any]:
    tensor = output_data(root.tensor) if root.tensor else {}
    node = graph.nodes[root.node].id if root.node is not None else None
    return known(id=root.id, path=root.path, **tensor, node=node, output=root.output if node else None, cut=cut_data(root.cut))


def cut_data(cut: Cut | None) -> dict[str, Any] | None:
    return known(reason=cut.reason, source=cut.source and cut.source._asdict()) if cut else None


def output_data(output: Output) -> dict[str, Any]:
    return known(
        shape=plain(output.shape),
        dtype=output.dtype,
        device=output.device,
        names=list(output.names),
        value=output.value and value_data(output.value),
        grad=output.grad and value_data(output.grad),
        retains_grad=output.retains_grad or None,
        hooks=output.hooks or None,
    )


def value_data(value: Any) -> dict[str, Any]:
    return known(text=value.text, item=plain(value.item), nan=value.nan or None, inf=value.inf or None)


def node_data(node: Node, graph: Graph) -> dict[str, Any]:
    return known(
        id=node.id,
        kind=node.kind,
        name=node.name,
        outputs=[output_data(output) for output in node.outputs],
        inputs=[input_data(node, place, edge, graph) for place, edge in enumerate(node.inputs)],
        uses=node.uses,
        arguments={name: plain(value) for name, value in node.arguments},
        formulas=formulas(node.name) if node.kind == "op" else {},
        saved=[saved_data(saved, graph) for saved in node.saved],
        has_grad=node.has_grad,
        source=node.source and known(**node.source._asdict()),
        defined=node.defined and known(**node.defined._asdict()),
        scope=list(node.scope),
        inner=node.inner,
        faults=list(node.faults),
    )


def input_data(node: Node, place: int, edge: tuple[int, int] | None, graph: Graph) -> dict[str, Any]:
    name = input_name(node, place)
    return known(node=graph.nodes[edge[0]].id, output=edge[1], name=name) if edge else known(constant=True, name=name)


def saved_data(saved: Saved, graph: Graph) -> dict[str, Any]:
    node, output = (graph.nodes[saved.source[0]].id, saved.source[1]) if saved.source else (None, None)
    return known(
        slots=list(saved.slots),
        state=saved.state,
        shape=plain(saved.shape),
        dtype=saved.dtype,
        bytes=saved.bytes,
        names=list(saved.names),
        node=node,
        output=output,
        constant=saved.constant or None,
        version=saved.version,
        expected=saved.expected,
        value=saved.value and value_data(saved.value),
        cut=cut_data(saved.cut),
    )


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value) or isinstance(value, complex):
        return str(value)
    return value
