"""What cuts a graph, in words: the sentence, the cure and the dead edge for each kind of cut. Imports question, slicing."""

from __future__ import annotations

import ast

from gradrepl.insight.causes.question import Question
from gradrepl.insight.causes.slicing import Hop

EXPLAINED = {
    "detach": "{text} on {line} cut the graph, for detach() returns the values without their history",
    "data": "{text} on {line} returns the bare values without their history, which cuts the graph",
    "numpy": "{text} on {line} left torch for NumPy, which records nothing, and that cuts the graph",
    "number": "{text} on {line} turned the tensor into plain Python numbers, which have no history, and that cuts the graph",
    "integer": "{text} on {line} turned {of} into integers, and integer tensors carry no gradient, which cuts the graph",
    "index": "{text} on {line} gives integers (indices), which are not differentiable, and that cuts the graph",
    "comparison": "{text} on {line} is a comparison: its result is True or False, which has no gradient, and that cuts the graph",
    "copy": "{text} on {line} copied the numbers into a new leaf and dropped the history of {of}, which cuts the graph",
    "parameter": "{text} on {line} made a new leaf from the values and dropped the history of {of}, which cuts the graph",
    "no_grad": "{into} was computed under no_grad ({line}), where nothing is recorded, and that cuts the graph",
}


FIXES = {
    "detach": "use {of} instead of {text}",
    "data": "use {of}, not {text}",
    "numpy": "use torch functions instead of NumPy's, so that the graph is kept",
    "number": "keep the tensor: use {of} itself and not {text}",
    "integer": "keep floats on the way to the loss; to learn an index, interpolate: table[i] + (position - i) * (table[i + 1] - table[i])",
    "index": "use a soft version (softmax, gumbel_softmax) or gather the values with the index instead of using the index itself",
    "comparison": "use a smooth version, such as torch.sigmoid(k * (a - b)), or a loss on the values instead of on the comparison",
    "copy": "build it with torch.stack or torch.cat, so that the graph is kept",
    "parameter": "use the tensor itself, or make the Parameter first and compute from it",
    "no_grad": "compute {into} outside the no_grad block",
}


def nearest(way: tuple[Hop, ...]) -> Hop:
    """Of the cuts on a way the one nearest the tensor; of several in one statement the outermost."""
    return next(hop for hop in way if hop.statement is way[-1].statement)


def words(q: Question, hop: Hop) -> dict[str, str]:
    source = hop.source()
    line = hop.node if hop.kind != "no_grad" else hop.statement or hop.node
    return {
        "text": q.text(hop.node) if hop.kind != "no_grad" else "",
        "line": q.where(line),
        "of": q.text(source) if source is not None and hop.kind != "no_grad" else "the tensors",
        "into": q.target_of(hop.statement) or "the result",
    }


def explain_cut(q: Question, hop: Hop) -> str:
    return EXPLAINED[hop.kind].format(**words(q, hop))


def cut_fix(q: Question, hop: Hop) -> str:
    return FIXES[hop.kind].format(**words(q, hop))


def dead_edge(q: Question, hop: Hop, into: str) -> str | None:
    """Where the graph of the root ends."""
    if q.root_graph is None:
        return None
    for node in q.root_graph.graph.nodes:
        text = node.source.text if node.source else ""
        if None in node.inputs and into and into.partition(".")[0] in names_in(text):
            return f"first dead edge: {node.name} {node.id} ({text}) has no next function for {into}"
    return dead_ends(q)


def dead_ends(q: Question) -> str | None:
    if q.root_graph is None:
        return None
    nodes = [n for n in q.root_graph.graph.nodes if None in n.inputs]
    return f"inputs without a graph: {', '.join(f'{n.name} {n.id}' for n in nodes[:4])}" if nodes else None


def names_in(text: str) -> set[str]:
    try:
        return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    except SyntaxError:
        return set()
