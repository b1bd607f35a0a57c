"""Why there is no gradient: rules for a tensor whose `.grad` is None, the surest first. Imports question, answer, slicing, history."""

from __future__ import annotations

import ast
from typing import Any

from gradrepl.graphs.protocol import has_fresh_grad_fn, is_module, is_tensor
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.program import called
from gradrepl.insight.causes.question import Question
from gradrepl.insight.causes.slicing import TOP, Hop
from gradrepl.insight.numerals import numbers
from gradrepl.insight.observer import seen

CONVERSIONS = {"to", "double", "float", "half", "cuda", "cpu", "type", "bfloat16", "type_as"}


def not_differentiable(q: Question) -> Answer | None:
    """Integers and booleans."""
    x = q.tensor
    if x.is_floating_point() or x.is_complex():
        return None
    kind = "booleans" if str(x.dtype) == "torch.bool" else "integers"
    return answer(
        "dtype",
        f"{q.name}.grad is None because {q.name} holds {kind} ({x.dtype}), and only floating-point or complex tensors can require grad.",
        f"{q.name}: dtype {x.dtype}, requires_grad {x.requires_grad}",
        made_line(q, x),
        fix=f"make {q.name} of floats: {q.name}.float(), or write 1.0 instead of 1, then requires_grad_()",
    )


# ---- tensors that were computed


def converted_copy(q: Question) -> Answer | None:
    """`torch.ones(3, requires_grad=True).to(...)`: the leaf has no name, the name has no leaf."""
    node = q.tensor.grad_fn
    below = [n for n, _ in node.next_functions if n is not None] if node is not None else []
    if len(below) != 1 or not hasattr(below[0], "variable") or q.name_of(below[0].variable):
        return None
    leaf, statement = below[0].variable, definition_statement(q)
    value = getattr(statement, "value", None)
    inner = inner_tensor(value)
    if value is None or inner is None:
        return None
    method = called(value)
    done = f".{method}({', '.join(q.text(a) for a in value.args)})" if method else q.text(value)
    what = "returned a converted copy" if method in CONVERSIONS else "made a new tensor from the leaf"
    return answer(
        "copy of the leaf",
        f"{q.name}.grad is None because {done} on {q.where(statement)} {what}: {q.name} is not a leaf but the result of {op(node)}, "
        f"and the leaf that gets the gradient is the unnamed {q.text(inner)}.",
        f"{q.name}.is_leaf is False, {q.name}.grad_fn is {node.name()}{q.node_id(node)} from {q.where(statement)}",
        f"its next function is the AccumulateGrad of an unnamed leaf of dtype {leaf.dtype}"
        + (f", whose .grad is {leaf.grad.tolist()}" if leaf.grad is not None and leaf.numel() < 7 else ""),
        fix=copy_fix(q, value, leaf),
    )


def copy_fix(q: Question, value: Any, leaf: Any) -> str:
    if leaf.dtype is not q.tensor.dtype:
        return f"create it in the right dtype: dtype={q.tensor.dtype}, requires_grad=True; or call .requires_grad_() last"
    return f"compute the values first and call .requires_grad_() last, or {q.name}.retain_grad() before backward()"


def inner_tensor(value: Any) -> Any:
    """In `make(…, requires_grad=True).to(…)` or `make(…, requires_grad=True) * 0.1`, the call that made the leaf."""
    for node in ast.walk(value) if value is not None else ():
        made = isinstance(node, ast.Call) and (called(node) == "requires_grad_" or any(k.arg == "requires_grad" for k in node.keywords))
        if made and node is not value or isinstance(node, ast.Call) and called(node) == "Parameter" and node is not value:
            return node
    return None


def renamed(q: Question) -> Answer | None:
    """`w = w - lr * w.grad`: the name now means a new tensor."""
    node = q.tensor.grad_fn
    statement = definition_statement(q)
    value = getattr(statement, "value", None)
    if node is None or value is None or not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return None
    if q.target_of(statement) != q.name or not any(isinstance(n, ast.Name) and n.id == q.name for n in ast.walk(value)):
        return None
    text = q.text(value)
    return answer(
        "name rebound",
        f"{q.name}.grad is None because {q.name} is no longer the leaf it was: {q.name} = {text} on {q.where(statement)} made a new "
        f"tensor, a non-leaf (the result of {op(node)}), and gave it the old name; backward() fills .grad of leaves only.",
        f"{q.name}.is_leaf is False, {q.name}.grad_fn is {node.name()} from {q.where(statement)}",
        f"the leaf that was called {q.name} before has the gradient",
        fix=rebinding_fix(q, value),
    )


def rebinding_fix(q: Question, value: ast.AST) -> str:
    if isinstance(value, ast.Call):
        return f"give the result another name, or make it a leaf of its own: {q.name} = {q.text(value)}.detach().requires_grad_()"
    return (
        f"change it in place under no_grad: with torch.no_grad(): {in_place(q, value)} (or {q.name}.retain_grad() to see this one's "
        "gradient)"
    )


def in_place(q: Question, value: ast.AST) -> str:
    """`w -= …` for `w - …`."""
    operators = {ast.Sub: "-=", ast.Add: "+=", ast.Mult: "*=", ast.Div: "/="}
    if isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) and value.left.id == q.name and type(value.op) in operators:
        return f"{q.name} {operators[type(value.op)]} {q.text(value.right)}"
    return f"{q.name}.copy_({q.text(value)})"


def late_retain(q: Question) -> Answer | None:
    """retain_grad() was called, but no backward since."""
    event = q.event(q.tensor, "retain_grad")
    if q.tensor.grad_fn is None or not q.tensor.retains_grad or event is None or not q.backwards:
        return None
    if q.backwards[-1].tick > event.tick:
        return None
    return answer(
        "retain_grad too late",
        f"{q.name}.grad is None because {q.name}.retain_grad() on {q.where(event.where)} came after backward() on "
        f"{q.where(q.backwards[-1].where)}: {q.name} is not a leaf, and its gradient was let go in that pass.",
        f"{q.name}.retains_grad is True only since {q.where(event.where)}",
        fix=f"call {q.name}.retain_grad() before backward()",
    )


def intermediate(q: Question) -> Answer | None:
    """A non-leaf without retain_grad."""
    node = q.tensor.grad_fn
    if node is None or q.tensor.retains_grad:
        return None
    place = q.made_at(q.tensor)
    statement = definition_statement(q)
    where = q.where(place or statement)
    written = place.text if place else q.text(statement.value) if statement is not None and hasattr(statement, "value") else ""
    by = f" by {written}" if written else ""  # code without a source: exec() of a string, a file that has gone
    gradient = passed_through(q)
    return answer(
        "non-leaf",
        f"{q.name}.grad is None because {q.name} is not a leaf: it was computed{by} ({where + ', ' if where else ''}{op(node)}), "
        f"and PyTorch keeps .grad only for leaves unless you call {q.name}.retain_grad() before backward().",
        f"{q.name}.is_leaf is False, {q.name}.grad_fn is {op(node)}{q.node_id(node)}{' from ' + where if where else ''}, "
        f"{q.name}.retains_grad is False",
        gradient and f"the gradient {gradient} passed through it and was not kept",
        fix=f"call {q.name}.retain_grad() before backward()",
    )


def passed_through(q: Question) -> str:
    for run in reversed(q.passes):
        for step in run.steps:
            if step.key == q.key and step.incoming and step.incoming[0] is not None:
                return numbers(step.incoming[0])
    return ""


# ---- leaves that do not ask for a gradient


def is_a_gradient(q: Question) -> Answer | None:
    """`g = w.grad`: the very tensor that backward adds to."""
    others = ((n, t) for n, t in q.namespace.items() if is_tensor(t) and t is not q.tensor and has_fresh_grad_fn(t))
    owner = next((n for n, t in others if t.is_leaf and t.grad is q.tensor), "")
    if not owner:
        return None
    adds = [p for p, a in q.arrivals_of(q.variable(owner)) if p.kind == "backward"]
    lines = ", ".join(dict.fromkeys(q.where(p.where) for p in adds))
    statement = q.definition(q.name)
    return answer(
        "a gradient itself",
        f"{q.name} is {owner}.grad itself, not a copy{f' ({q.where(statement)})' if statement is not None else ''}: backward() adds to "
        f"that tensor in place{f' ({lines})' if lines else ''}, and zero_grad() or zero_() would clear it, so {q.name} changes with "
        f"{owner}.grad; take {owner}.grad.clone() to keep the values.",
        f"{q.name} is {owner}.grad: True; its own .grad is None, for it does not require grad",
        fix=f"{q.name} = {owner}.grad.clone()",
    )


def misspelt(q: Question) -> Answer | None:
    """`x.require_grad = True`: Python makes a new attribute, autograd never hears of it."""
    own = [n for n in getattr(q.tensor, "__dict__", {}) if "grad" in n and not n.startswith("_")]
    if q.tensor.requires_grad or not own:
        return None
    return answer(
        "misspelt",
        f"{q.name}.grad is None because {q.name} does not require grad: {q.name}.{own[0]} is an attribute of your own that autograd does "
        f"not know; the right one is {q.name}.requires_grad.",
        f"{q.name}.requires_grad is False, vars({q.name}) holds {own[0]!r}",
        fix=f"{q.name}.requires_grad_(True)",
    )


def switched_off(q: Question) -> Answer | None:
    """requires_grad was set to False, or detach_() was called."""
    if q.tensor.requires_grad:
        return None
    found = [e for e in q.events if e.kind in ("set requires_grad", "requires_grad_", "detach_") and e.tensor is q.tensor]
    for event in reversed(found):
        off = event.kind == "detach_" or event.detail is False
        if off:
            how = "detach_()" if event.kind == "detach_" else "requires_grad = False (freezing it)"
            return answer(
                "switched off",
                f"{q.name}.grad is None because {how} on {q.where(event.where)} took {q.name} out of autograd: it does not require grad.",
                f"{q.name}.requires_grad is False since {q.where(event.where)}: {event.where.text}",
                fix=f"{q.name}.requires_grad_() before the forward pass",
            )
    return frozen_in_source(q)


def frozen_in_source(q: Question) -> Answer | None:
    for call in q.calls("requires_grad_"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        off = call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value is False
        if off and owner is not None and q.name.startswith(q.text(owner)):
            return frozen(q, call)
    for statement in q.source.owner:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant) and statement.value.value is False:
            target = statement.targets[0]
            if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
                loop = next((a for a in q.source.ancestors(statement) if isinstance(a, ast.For)), None)
                if q.text(target.value) == q.name or loop is not None and q.name.startswith(q.text(loop.iter).partition(".parameters")[0]):
                    return frozen(q, statement)
    return None


def frozen(q: Question, node: ast.AST) -> Answer:
    return answer(
        "switched off",
        f"{q.name}.grad is None because {q.name} is frozen: {q.text(node)} on {q.where(node)} switched requires_grad off, so no "
        "gradient is computed for it.",
        f"{q.name}.requires_grad is False",
        fix=f"{q.name}.requires_grad_() before the forward pass",
    )


def cut_itself(q: Question) -> Answer | None:
    """x itself came out of detach(), .data, no_grad, torch.tensor(…), NumPy, …"""
    statement = definition_statement(q)
    value = getattr(statement, "value", None)
    if q.tensor.requires_grad or value is None:
        return None
    hop = q.slice.unrecorded(statement) if not isinstance(value, (ast.Name, ast.Constant)) and uses_tensors(q, value) else None  # type: ignore[arg-type]
    for node in ast.walk(value):
        hop = hop or (q.slice.cut(node, TOP) if uses_tensors(q, node) else None)
    if hop is None:
        return None
    return answer(
        hop.kind,
        f"{q.name}.grad is None because {q.name} does not require grad: {explain_cut(q, hop)}.",
        f"{q.name}.requires_grad is False, {q.name}.grad_fn is None; made on {q.where(statement)}: {q.text(statement)}",  # type: ignore[arg-type]
        fix=cut_fix(q, hop),
    )


def uses_tensors(q: Question, node: ast.AST) -> bool:
    """Whether an expression mentions a tensor that requires grad."""
    things = [q.variable(n.id) for n in ast.walk(node) if isinstance(n, ast.Name)]
    return any(is_tensor(t) and t.requires_grad or is_module(t) for t in things)


def never_required(q: Question) -> Answer | None:
    if q.tensor.requires_grad:
        return None
    statement = definition_statement(q)
    made = f": it was made on {q.where(statement)} without requires_grad=True" if statement is not None else ""
    return answer(
        "requires_grad is False",
        f"{q.name}.grad is None because {q.name} does not require grad{made}, so backward() computes no gradient for it.",
        f"{q.name}.requires_grad is False, {q.name}.is_leaf is {q.tensor.is_leaf}",
        fix=f"{q.name}.requires_grad_() before the forward pass, or requires_grad=True where it is made",
    )


# ---- leaves that ask for one


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


def names_in(text: str) -> set[str]:
    try:
        return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    except SyntaxError:
        return set()


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
        f": {root} was computed from {into or 'what came out'}, which has no grad_fn, so backward() stopped there and never reached "
        f"{q.name}"
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


def nearest(way: tuple[Hop, ...]) -> Hop:
    """Of the cuts on a way the one nearest the tensor; of several in one statement the outermost."""
    return next(hop for hop in way if hop.statement is way[-1].statement)


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
        f"{q.name}.grad is None because {q.name} was not used to compute {root}: no edge of its graph leads to {q.name}, so backward() "
        "never reached it.",
        f"leaves under {root}: {', '.join(leaves)}" if leaves else None,
        dead_ends(q),
        f"checked: in the source, too, no way leads from {root} back to {q.name}, neither whole nor cut",
        fix=f"use {q.name} in what {root} is computed from (is it the tensor that the model really uses?)",
    )


def dead_ends(q: Question) -> str | None:
    if q.root_graph is None:
        return None
    nodes = [n for n in q.root_graph.graph.nodes if None in n.inputs]
    return f"inputs without a graph: {', '.join(f'{n.name} {n.id}' for n in nodes[:4])}" if nodes else None


# ---- words


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


def op(node: Any) -> str:
    """The name of a node, without what PyTorch puts before it."""
    return node.name().rpartition("::")[2]


def made_line(q: Question, tensor: Any) -> str | None:
    statement = q.definition(q.name)
    return f"made on {q.where(statement)}: {q.text(statement)}" if statement is not None else None


def definition_statement(q: Question) -> ast.AST | None:
    """The statement that made the tensor: the one where its node was recorded, or the last that assigns its name."""
    place = q.made_at(q.tensor)
    statement = place.statement if place else None
    if statement is not None and statement in q.source.owner and q.target_of(statement) == q.name:
        return statement
    return q.definition(q.name)


RULES = (
    not_differentiable,
    renamed,
    converted_copy,
    late_retain,
    intermediate,
    misspelt,
    is_a_gradient,
    switched_off,
    cut_itself,
    never_required,
    cleared,
    no_backward,
    only_inputs,
    required_too_late,
    cut_on_the_way,
    cut_seen,
    replaced,
    other_root,
    unused,
)
