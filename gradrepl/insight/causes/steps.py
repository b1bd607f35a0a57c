"""What one step of backward did, in words: its op, its operands, its numbers. Imports question, history."""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

import numpy as np

from gradrepl.insight.algebra import operands
from gradrepl.insight.causes.question import Question
from gradrepl.insight.formulas import formula_for
from gradrepl.insight.history import Step
from gradrepl.insight.numerals import Summary, numbers

HARDLY = 1e-6  # a gradient this much smaller than what came in counts as none


def base(step: Step) -> str:
    """The op of a step: Log for LogBackward0."""
    return re.sub(r"Backward\d*$", "", short(step))


def short(step: Step) -> str:
    """The name of its node, without what PyTorch puts before it: "torch::autograd::CopySlices"."""
    return step.name.rpartition("::")[2]


def array(value: Any) -> Any:
    """A value as an array of numbers, or None."""
    if value is None or value is False or isinstance(value, (str, list, tuple)):
        return None
    found = np.asarray(value)
    return found if found.dtype.kind in "fciub" else None


def nonzero(value: Any, scale: float = 0.0) -> bool:
    found = array(value)
    return found is not None and bool((np.abs(found) > HARDLY * scale).any())


def largest(value: Any) -> float:
    found = array(value)
    return float(np.nanmax(np.abs(found))) if found is not None and found.size else 0.0


def finite(value: Any) -> bool:
    found = array(value)
    return found is None or found.dtype.kind not in "fc" or bool(np.isfinite(found).all())


def has_nan(value: Any) -> bool:
    found = array(value)
    return found is not None and found.dtype.kind in "fc" and bool(np.isnan(found).any())


def incoming(step: Step) -> Any:
    return next((g for g in step.incoming if array(g) is not None), None)


def saved(step: Step, *names: str) -> Any:
    """The first of these saved values that is there, as an array."""
    for name in names:
        if (found := array(step.saved.get(name))) is not None:
            return found
    return None


def where(q: Question, step: Step) -> str:
    """ " (line 4)", or nothing."""
    place = q.where(step.where)
    return f" ({place})" if place else ""


def named(q: Question, step: Step) -> str:
    """A node with its id and line: "SqrtBackward0 n3 (line 4)"."""
    return f"{short(step)}{q.step_id(step)}{where(q, step)}"


def expression(step: Step) -> ast.AST | None:
    try:
        return ast.parse(step.where.text, mode="eval").body if step.where else None
    except SyntaxError:
        return None


def operand(step: Step, index: int = 0) -> str:
    """The source of an input: `p` in `torch.log(p)`, `p.log()`; "" if not known, as inside of `model(x)`."""
    node = expression(step)
    if node is None or isinstance(node, ast.Call) and not calls_op(node.func):
        return ""
    found = [n for n in operands(node) if n is not None]
    return ast.unparse(found[index]) if index < len(found) else ""


def calls_op(function: ast.AST) -> bool:
    """Whether a call is one of an op itself, and not of a model or a function of the program that runs it somewhere inside."""
    name = function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
        return False
    torch = sys.modules.get("torch") or sys.modules.get("gradrepl.torch")
    homes = (torch, torch.Tensor, torch.nn.functional, torch.special, torch.linalg, torch.fft) if torch else ()
    return any(hasattr(home, name) for home in homes)


def text(step: Step) -> str:
    return step.where and step.where.text or short(step)


def flow(q: Question, step: Step) -> str:
    """ "incoming [0, 1], outgoing [nan, 0.25]"."""
    out = [step.outgoing[i] for i in q.toward(step) if i < len(step.outgoing)]
    return f"incoming {numbers(incoming(step))}, outgoing {', '.join(numbers(g) for g in out) or 'nothing'}"


def outgoing(q: Question, step: Step) -> list:
    """The gradients a step sends toward the tensor."""
    return [step.outgoing[i] for i in q.toward(step) if i < len(step.outgoing) and array(step.outgoing[i]) is not None]


def contributions(q: Question) -> list[tuple[Step, Any]]:
    """What each use of the tensor sends to it: (the step of the use, the gradient)."""
    uses = [(step, step.outgoing[i]) for step in q.on_path for i, edge in enumerate(step.edges) if edge and edge[0] == q.key]
    return [(step, sent) for step, sent in uses if array(sent) is not None]


def formula(q: Question, step: Step) -> str | None:
    """The derivative as the embedded engine writes it, for the input on the way to the tensor."""
    places = q.toward(step)
    _, found = formula_for(step.name, places[0] if places else 0, len(step.edges))
    return f"formula: {found}" if found else None


def shown(q: Question) -> str:
    return numbers(q.values)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Summary) or isinstance(b, Summary):
        a, b = (x if x is None or isinstance(x, Summary) else Summary(np.asarray(x)) for x in (a, b))
    a, b = array(a), array(b)
    return a is None or b is None or a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=True))


def arrived(q: Question, key: int) -> Any:
    """The sum of what the steps above sent to a node or leaf."""
    if q.sent is None:
        q.sent = sums_sent(q)
    return q.sent.get(key)


def sums_sent(q: Question) -> dict[int, Any]:
    """Node or leaf -> the sum of what was sent to its first output."""
    totals: dict[int, Any] = {}
    for step in q.last.steps if q.last else ():
        for edge, sent in zip(step.edges, step.outgoing):
            if edge and edge[1] == 0 and (found := array(sent)) is not None:
                held = totals.get(edge[0])
                totals[edge[0]] = found if held is None else held + found if held.shape == found.shape else held
    return totals
