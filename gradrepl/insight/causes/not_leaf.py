"""Why a tensor that was computed has no gradient: it is no leaf, and perhaps its name was a leaf's before. Imports question, answer."""

from __future__ import annotations

import ast
from typing import Any

from gradrepl.graphs.protocol import node_type
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.program import called
from gradrepl.insight.causes.question import Question
from gradrepl.insight.numerals import numbers

CONVERSIONS = {"to", "double", "float", "half", "cuda", "cpu", "type", "bfloat16", "type_as"}


def converted_copy(q: Question) -> Answer | None:
    """`torch.ones(3, requires_grad=True).to(...)`: the leaf has no name, the name has no leaf."""
    node = q.tensor.grad_fn
    below = [n for n, _ in node.next_functions if n is not None] if node is not None else []
    if len(below) != 1 or not hasattr(below[0], "variable") or q.name_of(below[0].variable):
        return None
    leaf, statement = below[0].variable, q.statement
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
    statement = q.statement
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
        "change it in place under no_grad: with torch.no_grad(): "
        f"{in_place(q, value)} (or {q.name}.retain_grad() to see this one's gradient)"
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
    statement = q.statement
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


def op(node: Any) -> str:
    """The name of a node, without what PyTorch puts before it."""
    return node_type(node).name
