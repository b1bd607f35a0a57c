"""Why a leaf has no gradient: it does not ask for one. Imports question, cuts, slicing, answer and what they import."""

from __future__ import annotations

import ast

from gradrepl.graphs.protocol import has_fresh_grad_fn, is_module, is_tensor
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.cuts import cut_fix, explain_cut
from gradrepl.insight.causes.question import Question
from gradrepl.insight.causes.slicing import TOP


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
        made_line(q),
        fix=f"make {q.name} of floats: {q.name}.float(), or write 1.0 instead of 1, then requires_grad_()",
    )


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
    statement = q.statement
    value = getattr(statement, "value", None)
    if q.tensor.requires_grad or value is None:
        return None
    hop = q.slice.unrecorded(statement) if not isinstance(value, (ast.Name, ast.Constant)) and uses_tensors(q, value) else None
    for node in ast.walk(value):
        hop = hop or (q.slice.cut(node, TOP) if uses_tensors(q, node) else None)
    if hop is None:
        return None
    return answer(
        hop.kind,
        f"{q.name}.grad is None because {q.name} does not require grad: {explain_cut(q, hop)}.",
        f"{q.name}.requires_grad is False, {q.name}.grad_fn is None; made on {q.where(statement)}: {q.text(statement)}",
        fix=cut_fix(q, hop),
    )


def uses_tensors(q: Question, node: ast.AST) -> bool:
    """Whether an expression mentions a tensor that requires grad."""
    things = [q.variable(n.id) for n in ast.walk(node) if isinstance(n, ast.Name)]
    return any(is_tensor(t) and t.requires_grad or is_module(t) for t in things)


def never_required(q: Question) -> Answer | None:
    if q.tensor.requires_grad:
        return None
    statement = q.statement
    made = f": it was made on {q.where(statement)} without requires_grad=True" if statement is not None else ""
    return answer(
        "requires_grad is False",
        f"{q.name}.grad is None because {q.name} does not require grad{made}, so backward() computes no gradient for it.",
        f"{q.name}.requires_grad is False, {q.name}.is_leaf is {q.tensor.is_leaf}",
        fix=f"{q.name}.requires_grad_() before the forward pass, or requires_grad=True where it is made",
    )


def made_line(q: Question) -> str | None:
    statement = q.definition(q.name)
    return f"made on {q.where(statement)}: {q.text(statement)}" if statement is not None else None
