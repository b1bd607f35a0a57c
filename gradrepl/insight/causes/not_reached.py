"""Why a leaf that asks for a gradient has none: backward did not run, or did not reach it. Imports question, cuts, answer."""

from __future__ import annotations

import ast
from typing import Any

from gradrepl.graphs.protocol import has_fresh_grad_fn, is_tensor
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.cuts import cut_fix, dead_edge, dead_ends, explain_cut, names_in, nearest
from gradrepl.insight.causes.program import called
from gradrepl.insight.causes.question import Question
from gradrepl.insight.observer import seen


def cleared(q: Question) -> Answer | None:
    """It was there, and zero_grad() or `= None` took it away."""
    arrived = q.arrivals
    found = [e for e in q.events if e.kind == "set grad" and e.tensor is q.tensor and e.detail is None]
    reached = [p for p, a in arrived if a.incoming is not None and p.kind == "backward"]
    if not found or not reached or found[-1].tick < reached[-1].tick:
        return None
    where = found[-1].where
    called_there = where.text if "zero_grad" in where.text else ""
    return answer(
        "cleared",
        f"{q.name}.grad is None because {called_there or 'setting it to None'} on {q.where(where)} cleared it after backward() on "
        f"{q.where(reached[-1].where)} had filled it.",
        f"{q.where(where)}: {where.statement_text}{'; zero_grad() sets gradients to None' if called_there else ''}",
        fix=f"read {q.name}.grad between backward() and {'zero_grad()' if called_there else 'that line'}",
    )


def no_backward(q: Question) -> Answer | None:
    """backward() was not called at all, or only autograd.grad."""
    if q.backwards or (q.backward_calls and not watched(q)):
        return None
    root = q.root
    if q.passes or q.source.calls("grad"):
        calls = [c for c in q.source.calls("grad") if "autograd" in q.text(c)]
        if calls:
            return answer(
                "autograd.grad",
                f"{q.name}.grad is None because torch.autograd.grad() on {q.where(calls[-1])} returns the gradients and leaves .grad "
                "alone; only backward() fills it.",
                f"{q.where(calls[-1])}: {q.text(calls[-1])}",
                fix="use what autograd.grad() returns, or call backward()",
            )
    name = q.name_of(root) if root is not None else "loss"
    return answer(
        "no backward",
        f"{q.name}.grad is None because backward() has not been called yet: .grad is filled only when it runs.",
        f"{q.name}.is_leaf is True, {q.name}.requires_grad is True; no call of backward() was seen",
        fix=f"{name or 'loss'}.backward()",
    )


def watched(q: Question) -> bool:
    return bool(q.events or q.passes)


def only_inputs(q: Question) -> Answer | None:
    """backward(inputs=[…]) without this one."""
    for call in q.backward_calls[-1:]:
        for keyword in call.keywords:
            if keyword.arg == "inputs":
                return answer(
                    "inputs=",
                    f"{q.name}.grad is None because backward(inputs={q.text(keyword.value)}) on {q.where(call)} fills .grad of those "
                    f"tensors only, and {q.name} is not among them.",
                    f"{q.where(call)}: {q.text(call)}",
                    fix=f"add {q.name} to inputs=, or leave inputs= out",
                )
    return None


def required_too_late(q: Question) -> Answer | None:
    """requires_grad was switched on after the forward pass."""
    found = [
        e
        for e in q.events
        if e.kind in ("requires_grad_", "set requires_grad") and e.tensor is q.tensor and ".requires_grad" in e.where.text
    ]
    first = next(((e.where, e.tick) for e in found), None) or late_in_source(q)
    if first is None:
        return None
    where, since = first
    users = used_as_constant(q, since)
    if users is None:
        return None
    text, line, node = users
    root = q.root_name
    return answer(
        "requires_grad too late",
        f"{q.name}.grad is None because requires_grad was switched on ({q.where(where)}) only after {root} had been computed ({line}): "
        f"the graph recorded {q.name} as a constant, so set requires_grad before the forward pass.",
        f"{node} ({line}: {text}) has no edge to {q.name}; requires_grad was set later, on {q.where(where)}",
        fix=f"call {q.name}.requires_grad_() before computing {root}",
    )


def late_in_source(q: Question) -> tuple[Any, int] | None:
    """A statement `x.requires_grad_()` or `x.requires_grad = True` of the source, where calls were not seen."""
    if watched(q):
        return None
    for node in q.source.owner:
        if isinstance(node, ast.Call) and called(node) == "requires_grad_" and q.text(node.func.value) == q.name:  # type: ignore[attr-defined]
            return node, 0
        if isinstance(node, ast.Assign) and q.text(node.targets[0]) == f"{q.name}.requires_grad":
            return node, 0
    return None


def used_as_constant(q: Question, since: int) -> tuple[str, str, str] | None:
    """An op before `since` that used the tensor: (its text, its line, its node)."""
    if not any(not way for way in q.ways):
        return None
    nodes = (
        [(seen(f), f.name(), f.next_functions) for f in q.root_graph.functions.values() if hasattr(f, "next_functions")]
        if q.root_graph
        else []
    )
    steps = [(s.seen, s.name, s.edges) for p in q.backwards[-1:] for s in p.steps]
    for kept, name, edges in nodes or steps:
        if kept and kept.tick < since and q.name.partition(".")[0] in names_in(kept.where.text) and any(not e or not e[0] for e in edges):
            return kept.where.text, q.where(kept.where), name
    uses = [n for n in q.source.owner if isinstance(n, ast.Name) and n.id == q.name and isinstance(q.source.statement(n), ast.Assign)]
    root = q.definition(q.root_name)
    return (q.text(root), q.where(root), "the graph") if root is not None and uses else None


def cut_on_the_way(q: Question) -> Answer | None:
    """detach, .data, NumPy, integers, …: the first cut between the root and the tensor."""
    ways = [way for way in q.ways if way]
    if not ways:
        return None
    hop = nearest(min(ways, key=len))
    root = q.root_name
    into = q.target_of(hop.statement)
    into = "" if into == root else into
    tail = (
        f": {root} was computed from {into or 'what came out'}, which has "
        f"no grad_fn, so backward() stopped there and never reached {q.name}"
    )
    if hop.kind in ("integer", "index", "comparison"):
        tail = f": {into or 'the result'} has no grad_fn, so backward() from {root} stopped there and never reached {q.name}"
    return answer(
        hop.kind,
        f"{q.name}.grad is None because {explain_cut(q, hop)}{tail}.",
        dead_edge(q, hop, into),
        f"{q.where(hop.statement)}: {q.text(hop.statement)}"
        if hop.statement is not None and isinstance(hop.statement, (ast.Assign, ast.Expr, ast.Return))
        else None,
        fix=cut_fix(q, hop),
    )


def cut_seen(q: Question) -> Answer | None:
    """A detach() whose tensor hung over this one, although the source does not show the way."""
    for event in q.events:
        if event.kind not in ("detach", "data", "numpy", "item", "tolist", "detach_"):
            continue
        tensor = event.tensor
        if tensor is not None and tensor.grad_fn is not None and q.reaches(tensor.grad_fn, q.tensor):
            text, where = event.where.text, q.where(event.where)
            kind = ".data" if event.kind == "data" else f"{event.kind}()"
            return answer(
                event.kind,
                f"{q.name}.grad is None because {text} on {where} cut the graph: {kind} returns the values without their history, so "
                f"backward() from {q.root_name} stopped there and never reached {q.name}.",
                f"{where}: {text}, whose source has {tensor.grad_fn.name()} with {q.name} below it",
                fix=f"leave out {kind}",
            )
    return None


def replaced(q: Question) -> Answer | None:
    """The graph holds an older tensor of this name."""
    if q.root_graph is None:
        return None
    leaves = q.leaves(q.root_graph)
    if any(v is q.tensor for v in leaves):
        return None
    unnamed = [v for v in leaves if not q.name_of(v) and tuple(v.shape) == tuple(q.tensor.shape)]
    every = q.source.definitions.get((None, q.name), [])
    if not unnamed or len([d for d in every if not d.partial]) < 2:
        return None
    statement: Any = q.definition(q.name)
    return answer(
        "name rebound",
        f"{q.name}.grad is None because {q.name} now means another tensor than the one {q.root_name} was computed from: "
        f"{q.text(statement)} on {q.where(statement)} made a new leaf, and the gradient went to the old one.",
        f"the graph of {q.root_name} ends at a leaf of shape {tuple(unnamed[0].shape)} that has no name any more",
        fix=f"compute {q.root_name} from the new {q.name}, or give the old one new values instead of making another",
    )


def other_root(q: Question) -> Answer | None:
    """Backward ran, but on something else than what this tensor is used in."""
    if q.ways or not (q.backwards or q.backward_calls):
        return None
    users = [
        (n, t)
        for n, t in q.namespace.items()
        if is_tensor(t) and t.requires_grad and t is not q.root and has_fresh_grad_fn(t) and t.grad_fn is not None
    ]
    name = next((n for n, t in reversed(users) if not n.startswith("_") and q.reaches(t.grad_fn, q.tensor)), "")
    if not name:
        return None
    ran = f" ({q.where(q.backwards[-1].where)})" if q.backwards else ""
    return answer(
        "no backward",
        f"{q.name}.grad is None because backward() has not been called on {name}, which {q.name} is used in: the one that ran{ran} was for "
        f"{q.root_name}, and that does not depend on {q.name}.",
        f"{q.name} lies under {name}, not under {q.root_name}",
        fix=f"{name}.backward()" if q.variable(name).numel() == 1 else f"{name}.sum().backward()",
    )


def unused(q: Question) -> Answer | None:
    """The result does not depend on it."""
    if not (q.backwards or q.backward_calls):
        return None
    root = q.root_name
    leaves = q.leaf_names(q.root_graph)
    return answer(
        "unused",
        f"{q.name}.grad is None because {q.name} was not used to compute {root}: "
        f"no edge of its graph leads to {q.name}, so backward() never reached it.",
        f"leaves under {root}: {', '.join(leaves)}" if leaves else None,
        dead_ends(q),
        f"checked: in the source, too, no way leads from {root} back to {q.name}, neither whole nor cut",
        fix=f"use {q.name} in what {root} is computed from (is it the tensor that the model really uses?)",
    )
