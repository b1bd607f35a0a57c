"""Why a gradient is NaN or infinite: where the first such number came out, and how. Imports question, steps, answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.question import Question, values_of
from gradrepl.insight.causes.steps import (
    array,
    base,
    expression,
    finite,
    flow,
    formula,
    has_nan,
    incoming,
    named,
    operand,
    outgoing,
    saved,
    short,
    text,
    where,
)  # fmt: skip
from gradrepl.insight.history import Step
from gradrepl.insight.numerals import entry, numbers


def what(q: Question) -> str:
    """ "x.grad[0] is nan"."""
    values, mask = q.values, ~np.isfinite(q.values)
    first = (values[mask] if mask.any() else values).reshape(-1)[0].item()
    return f"{q.name}.grad{'' if mask.all() else entry(values, mask)} is {first}"


def is_finite(q: Question) -> bool:
    return bool(np.isfinite(q.values).all())


def tensor_itself(q: Question) -> Answer | None:
    """The parameter was not finite before this backward."""
    if is_finite(q) or finite(values := values_of(q.tensor)):
        return None
    passes = [p for p, a in q.arrivals if a.incoming is not None and not finite(a.incoming)]
    first = passes[0] if len(passes) > 1 else None
    return answer(
        "not finite itself",
        f"{what(q)} because {q.name} itself holds {numbers(values)}: it stopped being finite before this backward, in an earlier step"
        + (
            f" (a gradient that was not finite first came at backward number {q.passes.index(first) + 1}, {q.where(first.where)})."
            if first
            else "."
        ),
        f"{q.name} = {numbers(values)}",
        fix="find the first step with a gradient that is not finite; a smaller learning rate or clip_grad_norm_ often helps",
    )


def first_bad_step(q: Question) -> Step | None:
    """The first step on the way to the tensor that sends a number that is not finite, though only finite ones came in."""
    for step in q.on_path:
        if finite(incoming(step)) and not all(finite(g) for g in outgoing(q, step)):
            return step
    return next((s for s in q.on_path if not finite(incoming(s))), None)


def overflowed(q: Question) -> Step | None:
    """The first op of the forward pass whose result was not finite already, if it lies on the way."""
    for step in sorted(q.on_path, key=lambda s: s.key):
        values = [*(step.seen.values if step.seen else ()), step.saved.get("result")]
        if base(step) not in ("MaskedFill", "Where") and not all(finite(v) for v in values):
            return step
    return None


def first_nan_step(q: Question, after: Step) -> Step | None:
    """Where inf became nan, later on."""
    steps = q.on_path[q.on_path.index(after) + 1 :]
    return next((s for s in steps if not has_nan(incoming(s)) and any(has_nan(g) for g in outgoing(q, s))), None)


def hidden_branch(q: Question) -> Answer | None:
    """A mask keeps a bad value out of the forward pass only: backward multiplies 0 by inf."""
    step = None if is_finite(q) else first_bad_step(q)
    if step is None or (mask := masking(q, step)) is None:
        return None
    came, out = array(incoming(step)), array(outgoing(q, step)[0])
    places = ~np.isfinite(out)
    if came is None or came.shape != out.shape or (came[places] != 0).any():
        return None
    inner = operand(step, 1 if base(step) in ("Div", "Reciprocal") and isinstance(expression(step), ast.BinOp) else 0) or "x"
    hides = {"Where": "torch.where()", "MaskedFill": "masked_fill()", "Mul": "multiplying by 0"}[base(mask)]
    safe = re.sub(rf"(?<![\w.]){re.escape(inner)}(?!\w)", "safe", text(step))
    return answer(
        "masked in forward only",
        f"{what(q)} because {hides}{where(q, mask)} hides {hidden(step, places)} only in the forward pass: in backward the branch "
        f"not taken gets the gradient 0, and {short(step)} computes {zero_by(step)} for it, which is nan.",
        f"first value that is not finite: out of {named(q, step)}, {flow(q, step)}",
        formula(q, step),
        f"{named(q, mask)} sent it the 0",
        fix=f"make the input safe first: safe = torch.where(condition, {inner}, 1.0), then torch.where(condition, {safe}, 0.0)",
    )


def hidden(step: Step, places: Any) -> str:
    """What the mask hides: sqrt(0), log(0); else the expression."""
    found = saved(step, "self", "result") if base(step) in ("Log", "Sqrt", "Pow") else None
    if found is None or found.shape != places.shape or base(step) == "Pow":
        return text(step)
    return f"{base(step).lower()}({numbers(found[places].reshape(-1)[0])})"


def masking(q: Question, step: Step) -> Step | None:
    """The mask between the root and a step."""
    for above in reversed(q.on_path[: q.on_path.index(step)]):
        if base(above) in ("Where", "MaskedFill"):
            return above
        if base(above) == "Mul" and any(not a.all() for a in (saved(above, "self"), saved(above, "other")) if a is not None):
            return above
    return None


def zero_by(step: Step) -> str:
    return {"Sqrt": "0 / (2 * sqrt(0)) = 0 / 0", "Log": "0 / 0", "Div": "0 / 0", "Reciprocal": "0 * inf", "Pow": "0 * inf"}.get(
        base(step), "0 * inf"
    )


def softmax_underflow(q: Question) -> Answer | None:
    """log(softmax(x)): the probability is rounded to 0."""
    step = None if is_finite(q) else first_bad_step(q)
    below = next((s for s in q.on_path[q.on_path.index(step) + 1 :] if base(s) in ("Softmax", "Sigmoid")), None) if step else None
    if step is None or below is None or not base(step).startswith("Log") or (values := saved(step, "self")) is None or values.all():
        return None
    name, of = base(below).lower(), operand(step)
    better = "torch.log_softmax" if name == "softmax" else "torch.nn.functional.logsigmoid"
    return answer(
        f"{name} underflow",
        f"{what(q)} because {name} underflowed: {of or 'a probability'}{entry(values, values == 0)} "
        f"is exactly 0 in {values.dtype}{where(q, below)}, {short(step)}{where(q, step)} "
        f"divides by it and gives inf, and {short(below)} multiplies that by 0; use {better}.",
        f"{of or 'the probabilities'} = {numbers(values)}",
        f"first inf: out of {named(q, step)}, {flow(q, step)}",
        f"then {named(q, below)}: {flow(q, below)}, 0 * inf is nan",
        fix=f"{better}({operand(below) or 'x'}, …) (or cross_entropy on the logits)",
    )


# op -> why its derivative is not finite, as "log(0) is -inf, and LogBackward0 divides the gradient by p, that is by 0"


def at_log(q: Question, step: Step) -> str:
    values, of = saved(step, "self"), operand(step) or "its input"
    if values is not None and (values < 0).any():
        return f"{of} is negative, where the logarithm does not exist: {short(step)}{where(q, step)} has nothing to divide by"
    shown = f"{of}{entry(values, values == 0)} is 0" if values is not None else f"{of} is 0"
    return f"{shown}: log(0) is -inf, and {short(step)}{where(q, step)} divides the gradient by {of}, that is by 0"


def at_root(q: Question, step: Step) -> str:
    inner = operand(step) or "what is under the root"
    reason = "the distance is 0, for both points are equal" if is_distance(q, step) else f"{inner} is 0"
    return f"{reason}: {short(step)}{where(q, step)}, the derivative of sqrt, gives 1 / (2 * 0) = inf"


def is_distance(q: Question, step: Step) -> bool:
    """Whether a root of a sum of squares of a difference."""
    below = q.on_path[q.on_path.index(step) + 1 :]
    names = [base(s) for s in below[:4]]
    return "Pow" in names + ["Mul"] and "Sub" in names and any(n in ("Sum", "Mean") for n in names)


def at_power(q: Question, step: Step) -> str:
    values, exponent = saved(step, "self"), saved(step, "exponent")
    of, shown = operand(step) or "its base", numbers(exponent) if exponent is not None else "that"
    if values is not None and (values < 0).any():
        return f"{of} is negative and the exponent {shown} is not whole: {short(step)}{where(q, step)} has no real value there"
    return (
        f"{of} is 0 and the exponent {shown} is below 1: "
        f"{short(step)}{where(q, step)} computes {shown} * 0 ** ({shown} - 1), an infinite slope"
    )


def at_division(q: Question, step: Step) -> str:
    return f"{operand(step, 1) or 'the divisor'} is 0: {short(step)}{where(q, step)} divides the gradient by 0"


def at_exp(q: Question, step: Step) -> str:
    values = saved(step, "result")
    return (
        f"exp({operand(step) or 'x'}) overflowed to inf in {values.dtype if values is not None else 'float32'}{where(q, step)}, and "
        f"{short(step)} multiplies by it"
    )


def at_edge(q: Question, step: Step) -> str:
    return (
        f"{operand(step) or 'its input'} is at the edge of the domain of {base(step).lower()} (-1 or 1), where "
        f"{short(step)}{where(q, step)} divides by sqrt(1 - x * x) = 0"
    )


def at_std(q: Question, step: Step) -> str:
    size = saved(step, "self")
    few = size is not None and size.size <= 1
    if few:
        return (
            f"the standard deviation of 1 value divides by n - 1 = 0{where(q, step)}: "
            f"{base(step).lower()}() of one element is nan (pass correction=0)"
        )
    return f"{base(step).lower()}() divides by n - 1 or by a spread of 0{where(q, step)}"


def at_product(q: Question, step: Step) -> str:
    spoilt = next((i for i, n in enumerate(("other", "self")) if not finite(saved(step, n))), 0)
    name = operand(step, 1 - spoilt) or "the other factor"
    return f"{name} is {numbers(saved(step, ('other', 'self')[spoilt]))}: {short(step)}{where(q, step)} multiplies the gradient by it"


def at_softmax(q: Question, step: Step) -> str:
    return f"{operand(step) or 'its input'} holds inf, or a row of nothing but -inf, and softmax of that is nan{where(q, step)} (inf - inf)"


SOURCES: dict[str, Callable[[Question, Step], str]] = {
    **dict.fromkeys(("Log", "Log2", "Log10", "Log1P", "Xlogy", "Logit"), at_log),
    **dict.fromkeys(("Sqrt", "Rsqrt"), at_root),
    "Pow": at_power,
    **dict.fromkeys(("Div", "Reciprocal", "Remainder"), at_division),
    **dict.fromkeys(("Exp", "Exp2", "Expm1", "Cosh", "Sinh"), at_exp),
    **dict.fromkeys(("Acos", "Asin", "Atanh", "Acosh"), at_edge),
    **dict.fromkeys(("Std", "Var", "StdMean", "VarMean"), at_std),
    **dict.fromkeys(("Mul", "Mm", "Mv", "Dot", "Addmm", "Bmm"), at_product),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Logsumexp"), at_softmax),
}
CURES = {
    "Log": "keep it away from 0: torch.log(x + 1e-7) or x.clamp_min(1e-7); with probabilities work with logits (log_softmax, "
    "cross_entropy, binary_cross_entropy_with_logits)",
    "Sqrt": "add a little under the root, (x + 1e-12).sqrt(); for a distance use torch.linalg.vector_norm, whose gradient at 0 is 0",
    "Div": "add a little to the divisor, or make it safe with torch.where before dividing",
    "Exp": "subtract the maximum first, or use logsumexp, log_softmax, softplus",
    "Pow": "add a little to the base: (x + 1e-12) ** p",
    "Acos": "clamp the input to (-1 + 1e-7, 1 - 1e-7)",
    "Std": "use correction=0, or more than one value",
    "Mul": "find where the factor stopped being finite",
    "Softmax": "mask with a large negative number, such as -1e9, so that no row is all -inf",
}


def source_of_it(q: Question) -> Answer | None:
    """The op whose derivative is not finite there."""
    step = None if is_finite(q) else overflowed(q) or first_bad_step(q)
    if step is None:
        return None
    why = SOURCES.get(base(step), general)(q, step)
    then = first_nan_step(q, step) if not any(has_nan(g) for g in outgoing(q, step)) else None
    tail = f", and {short(then)} multiplies that by {factor(then)}: inf * 0 is nan" if then else ""
    cure = next((text for name, text in CURES.items() if SOURCES.get(name) is SOURCES.get(base(step), general)), "")
    forward = overflowed(q) is step
    values = next((v for v in (*(step.seen.values if step.seen else ()), step.saved.get("result")) if not finite(v)), None)
    return answer(
        "not finite",
        f"{what(q)} because {why}{tail}.",
        f"already in the forward pass: {text(step)} = {numbers(values)}{where(q, step)}" if forward else None,
        f"first value that is not finite in backward: out of {named(q, first_bad_step(q) or step)}, {flow(q, first_bad_step(q) or step)}",
        formula(q, step),
        then and f"first nan: out of {named(q, then)}, {flow(q, then)}",
        fix=cure or "make the input of that op safe",
    )


def factor(step: Step) -> str:
    """What a step multiplies by, in words."""
    if base(step) == "Pow":
        return f"{numbers(saved(step, 'exponent'))} * {operand(step) or 'its base'} = 0"
    zero = next((i for i, n in enumerate(("self", "other")) if (a := saved(step, n)) is not None and not a.all()), None)
    return f"{operand(step, zero)} = 0" if zero is not None and operand(step, zero) else "0"


def general(q: Question, step: Step) -> str:
    spoilt = next((name for name, value in step.saved.items() if not finite(value)), None)
    if not finite(incoming(step)):
        return f"what backward started with is not finite ({numbers(incoming(step))})"
    held = f" ({spoilt} = {numbers(step.saved[spoilt])})" if spoilt else ""
    return f"{text(step)} has no finite derivative there{held}: it came out of {short(step)}{where(q, step)}"


def not_seen(q: Question) -> Answer | None:
    """No pass was watched."""
    if is_finite(q):
        return None
    return answer(
        "not finite",
        f"{what(q)}; which op made it is not known, because backward was not watched.",
        f"{q.name}.grad = {numbers(q.values)}",
        fix="run the program again after `import gradrepl; gradrepl.why`, or step(loss) to see the first value that is not finite",
    )


RULES = (tensor_itself, hidden_branch, softmax_underflow, source_of_it, not_seen)
