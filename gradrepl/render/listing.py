"""A graph as text, one line per op in the order of execution, to paste into a bug report. Imports graphs and render only."""

from __future__ import annotations

from gradrepl.graphs.model import Graph, Node, Root

from . import labels


def to_listing(graph: Graph) -> str:
    """Return the lines: id, type, op and its inputs, and the line of the program where that is known."""
    rows = [row(node, graph) for node in in_execution_order(graph)]
    rows += [returned(graph)] if graph.roots else []
    widths = [max(len(cells[column]) for cells in rows) for column in range(3)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(cells, (*widths, 0), strict=True)).rstrip() for cells in rows]
    return "\n".join([*(f"# {note}" for note in graph.notes), *lines])


def in_execution_order(graph: Graph) -> list[Node]:
    """Leaves as they are first used, ops by their sequence numbers, or else what is consumed before what consumes it."""
    ops = [node for node in reversed(graph.nodes) if not node.leaf]
    if all(node.sequence for node in ops[1:]):
        ops.sort(key=lambda node: node.sequence)
    ordered: dict[str, Node] = {}
    for node in ops:
        for edge in node.inputs:
            if edge and graph.nodes[edge[0]].leaf:
                ordered.setdefault(graph.nodes[edge[0]].id, graph.nodes[edge[0]])
        ordered[node.id] = node
    ordered.update((node.id, node) for node in graph.nodes if node.id not in ordered)
    return list(ordered.values())


def row(node: Node, graph: Graph) -> tuple[str, str, str, str]:
    types = ", ".join(filter(None, (labels.type_text(output, "") for output in node.outputs)))
    if node.leaf:
        return node.id, types, f"leaf {labels.names_text(node.names)}".rstrip(), " · ".join(labels.leaf_text(node).split(" · ")[1:])
    inputs = [input_text(node, place, edge, graph) for place, edge in enumerate(node.inputs)]
    named = {labels.input_name(node, place) for place in range(len(node.inputs))}
    inputs += [f"{name}={value}" for name, value in node.arguments if name not in named and labels.is_telling(name, value)]
    names = f"{labels.names_text(node.names)} = " if node.names else ""
    where = f"# {labels.source_text(node.source)}  {node.source.text.strip()}".rstrip() if node.source else ""
    return (
        node.id,
        types,
        f"{names}{node.name}({', '.join(inputs)})",
        "  ".join(filter(None, (where, *(f"! {fault}" for fault in node.faults)))),
    )


def input_text(node: Node, place: int, edge: tuple[int, int] | None, graph: Graph) -> str:
    if edge is None:
        name = labels.input_name(node, place)
        named = next(
            (each.names[0] for each in node.saved if each.constant and each.names and name in each.slots), name or f"input {place}"
        )
        return str(dict(node.arguments).get(name, f"{named} constant"))
    target = graph.nodes[edge[0]]
    return target.id + (f".{edge[1]}" if len(target.outputs) > 1 else "")


def returned(graph: Graph) -> tuple[str, str, str, str]:
    ends = [graph.nodes[root.node].id if root.node is not None else without_graph(root, graph) for root in graph.roots]
    return "", "", f"→ {', '.join(ends)}", ""


def without_graph(root: Root, graph: Graph) -> str:
    return f"{labels.root_name(root, graph)} (no grad_fn: {labels.cut_text(root.cut)})"
