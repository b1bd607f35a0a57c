"""Why a gradient is zero, wholly or in part: the op that let nothing through. Imports question, steps, missing, answer."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.cuts import FIXES, words
from gradrepl.insight.causes.program import called
from gradrepl.insight.causes.question import Question, values_of
from gradrepl.insight.causes.steps import (
    HARDLY,
    array,
    arrived,
    base,
    contributions,
    expression,
    flow,
    formula,
    incoming,
    largest,
    named,
    nonzero,
    operand,
    outgoing,
    saved,
    short,
    text,
    where,
)  # fmt: skip
from gradrepl.insight.history import Step
from gradrepl.insight.numerals import entry, number, numbers


def zero_places(q: Question) -> Any:
    return np.abs(q.values) <= tiny(q)


def tiny(q: Question) -> float:
    """What counts as nothing beside the largest gradient on the way."""
    scale = max([largest(incoming(s)) for s in q.on_path[:1]] or [0.0])
    return HARDLY * scale


def all_zero(q: Question) -> bool:
    places = zero_places(q)
    return bool(places.size) and bool(places.all())


def some_zero(q: Question) -> bool:
    return bool(zero_places(q).any())


def what(q: Question) -> str:
    """ "x.grad is all zero", "x.grad[0] is 0", "the entries of x.grad at [0], [1] are 0"."""
    values, places = q.values, zero_places(q)
    if places.all():
        hardly = "" if not values.any() else f"almost zero ({number(np.abs(values).max())})"
        return f"{q.name}.grad is {hardly or ('zero' if values.ndim == 0 else 'all zero')}"
    if places.sum() == 1:
        return f"{q.name}.grad{entry(values, places)} is 0"
    shown = np.argwhere(places)[:3].tolist()
    return f"the entries of {q.name}.grad at {', '.join(str(s) for s in shown)}{', …' if places.sum() > 3 else ''} are 0"


# ---- before any op is looked at


def reset(q: Question) -> Answer | None:
    """zero_grad(set_to_none=False) or .grad.zero_() after backward."""
    found = [a for p, a in q.arrivals if p.kind == "backward"]
    if not all_zero(q) or not found or not nonzero(found[-1].after):
        return None
    last = q.arrivals[-1][0]
    place = q.gradient_written(last.tick)
    return answer(
        "cleared",
        f"{what(q)} because it was zeroed after backward() had filled it: "
        f"{place.text + ' on ' + q.where(place) if place else 'something set it to zero'}.",
        f"after backward() on {q.where(last.where)} it was {numbers(found[-1].after)}",
        fix=f"read {q.name}.grad before it is zeroed",
    )


def hooked(q: Question) -> Answer | None:
    """A hook gave zeros back."""
    if not all_zero(q):
        return None
    for step in q.on_path:
        above = arrived(q, step.key)
        if above is not None and nonzero(above) and not nonzero(incoming(step)):
            return hook_answer(q, named(q, step), step.key, above)
    arrival = q.arrivals[-1][1] if q.arrivals else None
    above = arrived(q, id(q.tensor)) if q.tensor.is_leaf else None
    if arrival is not None and above is not None and nonzero(above) and getattr(q.tensor, "_backward_hooks", None):
        return hook_answer(q, q.name, q.key, above)
    return None


def hook_answer(q: Question, at: str, key: int, above: Any) -> Answer:
    event = q.hook_on(key)
    line = f" (set on {q.where(event.where)})" if event else ""
    return answer(
        "hook",
        f"{what(q)} because a hook{line} returned zeros: "
        f"what a hook returns replaces the gradient, so nothing was left to flow on to {q.name}.",
        f"at {at} the gradient {numbers(above)} came in, and zeros went on",
        event and f"{q.where(event.where)}: {event.where.text}",
        fix="return the gradient from the hook, or None to leave it as it is",
    )


def cancelled(q: Question) -> Answer | None:
    """x - x: several contributions that add up to zero."""
    if not all_zero(q) or not q.on_path:
        return None
    sent = contributions(q)
    if len(sent) < 2 or not any(nonzero(g) for _, g in sent):
        return None
    return answer(
        "cancelled",
        f"{what(q)} because its contributions cancel: {q.name} is used {len(sent)} times, and "
        f"{' and '.join(numbers(g) for _, g in sent[:3])} add up to zero.",
        *(f"{named(q, s)}: {text(s)} sends {numbers(g)}" for s, g in sent[:4]),
        fix="nothing is wrong with backward: the result does not change when the tensor does",
    )


def partly_cut(q: Question) -> Answer | None:
    """A part of the tensor went through detach() or another cut, the rest did not."""
    if not some_zero(q) or not any(not way for way in q.ways):
        return None
    ways = [way for way in q.ways if way and way[0].kind in ("detach", "data", "no_grad", "numpy", "number", "copy")]
    if not ways:
        return None
    hop = ways[0][0]
    said = words(q, hop)
    step = next((s for s in q.on_path if None in [e or None for e in s.edges] and said["of"].split(".")[0] in text(s)), None)
    source = q.text(hop.node) if hop.kind != "no_grad" else said["into"]
    return answer(
        hop.kind,
        f"{what(q)} because {source} on {said['line']} took {said['of'] if hop.kind != 'no_grad' else said['into']} out of the graph: "
        f"only the rest of {q.name} carries a gradient, and the entries that went through {hop.kind} get zero.",
        step and f"{named(q, step)}: {text(step)} has a next function for only some of its inputs",
        fix=FIXES[hop.kind].format(**said),
    )


# ---- the op that lets nothing through


def killer(q: Question) -> tuple[Step, Any] | None:
    """The first step that lets nothing on, or, for a part, the step that loses entries; with where."""
    candidates = []
    for step in q.on_path:
        came, sent = array(incoming(step)), outgoing(q, step)
        if came is None or not sent or not nonzero(came):
            continue
        scale = largest(came)
        if not any(nonzero(g, scale) for g in sent):
            return step, np.ones(np.shape(sent[0]), bool)
        for out in map(array, sent):
            dead = np.abs(out) <= HARDLY * scale
            if dead.any() and (out.shape != came.shape or (came[dead] != 0).any()):
                candidates.append((step, dead))
    return candidates[0] if candidates and not all_zero(q) else candidates[-1] if candidates else None


def lost_in_op(q: Question) -> Answer | None:
    found = killer(q) if some_zero(q) else None
    if found is None:
        return None
    step, dead = found
    explain = FLAT.get(base(step), any_op)
    reason, fix = explain(q, step, dead)
    return answer(
        "zero", f"{what(q)} because {reason}.", f"{named(q, step)}: {flow(q, step)}", formula(q, step), operand_values(q, step), fix=fix
    )


def operand_values(q: Question, step: Step) -> str | None:
    """What went into the op, if it still has a name."""
    name = operand(step)
    found = q.variable(name)
    if found is not None and hasattr(found, "detach") and found.numel() <= 12:
        return f"{name} = {numbers(values_of(found), 12)}"
    return None


Told = tuple[str, str]


def whole(dead: Any) -> bool:
    return bool(np.all(dead))


def at_relu(q: Question, step: Step, dead: Any) -> Told:
    name, of = base(step).lower(), operand(step) or "its input"
    which = (
        f"every input of {name} is negative ({of} < 0 for all {dead.size}"
        if whole(dead)
        else f"relu's input is negative there ({of} <= 0 for {int(dead.sum())} of {dead.size}"
    )
    tail = " (a dead ReLU)" if whole(dead) else ""
    return (
        f"{which}{where_in(q, step)}), and there {name} is flat at 0 with slope 0, so {short(step)} passes back only zeros{tail}",
        "use leaky_relu, another initialisation, a positive bias, or a smaller learning rate",
    )


def where_in(q: Question, step: Step) -> str:
    place = q.where(step.where)
    return f", {place}" if place else ""


def at_clamp(q: Question, step: Step, dead: Any) -> Told:
    of = operand(step) or "its input"
    many = "every value" if whole(dead) else f"{int(dead.sum())} of {dead.size} values"
    return (
        f"{text(step)}{where(q, step)} clips {many} of {of}: outside its bounds the result does not change with {of}, the slope is 0 (at "
        f"a bound it is 1), and {short(step)} passes back zeros",
        "widen the bounds, or use a soft one such as tanh or sigmoid, whose slope is never exactly 0",
    )


def at_step(q: Question, step: Step, dead: Any) -> Told:
    name = base(step).lower()
    return (
        f"{name}(){where(q, step)} is a step function: it is flat almost everywhere, so {short(step)} returns 0 whatever comes in",
        f"use a straight-through estimator: x + ({operand(step) or 'x'}.{name}() - x).detach()",
    )


def at_saturation(q: Question, step: Step, dead: Any) -> Told:
    name, of = base(step).lower(), operand(step) or "its input"
    result = saved(step, "result", "self")
    shown = f" = {numbers(result)}" if result is not None else ""
    return (
        f"{name} is saturated{where(q, step)}: for {of} this far from 0 its result{shown} no longer changes, its slope is 0 in this "
        f"precision, and {short(step)} passes back (almost) nothing",
        "scale the input down, normalise it, or work with logits (binary_cross_entropy_with_logits, cross_entropy)",
    )


def at_softmax(q: Question, step: Step, dead: Any) -> Told:
    came = array(incoming(step))
    if came is not None and np.ptp(came) <= 1e-6 * largest(came):
        return (
            f"softmax always adds up to 1{where(q, step)}: every entry gets the same gradient {number(came.reshape(-1)[0])} from above, "
            f"the sum is constant, and {short(step)} passes back zeros",
            "use a loss that tells the entries apart, such as cross_entropy",
        )
    return at_saturation(q, step, dead)


def at_where(q: Question, step: Step, dead: Any) -> Told:
    condition = saved(step, "condition")
    counts = (
        f" for {'every element' if condition.all() or not condition.any() else f'{int((~condition).sum())} of {condition.size}'}"
        if condition is not None
        else ""
    )
    test = operand(step, 0) or "the condition"
    side = "False" if condition is None or not condition.all() else "True"
    other = operand(step, 2 if side == "False" else 1) or "the other branch"
    lost = operand(step, 1 if side == "False" else 2) or "the other one"
    return (
        f"{test} is {side}{counts}: torch.where(){where(q, step)} took {other}, and {short(step)} sends 0 to the branch not taken, {lost} "
        f"(the condition itself has no gradient)",
        f"use a soft gate instead of a condition: {lost} * torch.sigmoid(k * (…))",
    )


def at_product(q: Question, step: Step, dead: Any) -> Told:
    toward = q.toward(step)[:1]
    index = 1 - toward[0] if toward and toward[0] in (0, 1) else 1
    name = operand(step, index) or ("other", "self")[1 - index]
    values = saved(step, ("self", "other")[index], ("self", "mat2")[index])
    if drops(step, values):
        return (
            f"the dropout in {text(step)}{where(q, step)} set those entries to 0: what was dropped has no influence and gets no gradient",
            "nothing is wrong; in eval mode nothing is dropped",
        )
    shown = f" = {numbers(values)}" if values is not None else ""
    return (
        f"{text(step)}{where(q, step)} multiplies by {name}{shown}, "
        f"which is 0{'' if whole(dead) else ' there'}, so {short(step)} passes back 0",
        f"look at where {name} becomes 0 (weights that start at zero, a mask, a dropout)",
    )


def drops(step: Step, factor: Any) -> bool:
    """Whether a product is that of dropout: the program writes a call, and the factor that it knows nothing of is 0 or one number."""
    node = expression(step)
    written = not isinstance(node, ast.Call) or called(node).rstrip("_") in ("mul", "multiply")
    return base(step) == "Mul" and not written and factor is not None and np.unique(factor[factor != 0]).size == 1 and not factor.all()


def at_power(q: Question, step: Step, dead: Any) -> Told:
    exponent = saved(step, "exponent")
    of = operand(step) or "its base"
    if exponent is not None and not exponent.any():
        return f"{text(step)}{where(q, step)} is 1 whatever {of} is: the slope of x ** 0 is 0", "use an exponent other than 0"
    return (
        f"{of} is 0{'' if whole(dead) else ' there'}, and the slope of {text(step)}{where(q, step)} at 0 is "
        f"{numbers(exponent) if exponent is not None else 'p'} * 0 = 0: {short(step)} passes back 0 (a minimum)",
        "nothing is wrong: the power is at its minimum there",
    )


def at_kink(q: Question, step: Step, dead: Any) -> Told:
    of = operand(step) or q.name
    return (
        f"|{of}| has a kink at 0 and no derivative there: {short(step)}{where(q, step)} uses sign({of}), and sign(0) = 0 is the "
        "subgradient PyTorch chooses from [-1, 1]",
        f"nothing is wrong; for +1 at 0 write torch.where({of} >= 0, {of}, -{of})",
    )


def at_selection(q: Question, step: Step, dead: Any) -> Told:
    name = base(step).lower()
    if name in ("maximum", "minimum", "fmax", "fmin"):
        better = "larger" if "max" in name else "smaller"
        return (
            f"{text(step)}{where(q, step)} takes the {better} of the two, and that is the other one{'' if whole(dead) else ' there'}: "
            f"what is not taken gets 0 ({short(step)})",
            "use a smooth version, such as torch.logaddexp, if both are to learn",
        )
    values, result = saved(step, "self"), saved(step, "result")
    found = q.variable(operand(step))
    if values is None and hasattr(found, "detach"):
        values = values_of(found)
    best = getattr(values, name[:3] if name.startswith(("max", "min")) else "max")() if values is not None and values.size else None
    equal = values == best if result is None and best is not None and np.shape(values) == np.shape(dead) else np.zeros(1, bool)
    if equal.sum() > 1 and (dead & equal).any():
        return (
            f"{text(step)}{where(q, step)} picks one index and gives it the whole gradient, although {int(equal.sum())} "
            f"elements are equally large: the others get 0 ({short(step)})",
            "use amax() or max() without dim, which share the gradient between equal elements",
        )
    return (
        f"{text(step)}{where(q, step)} depends only on the element it picks ({name} with its index): the others do not change it, and "
        f"{short(step)} gives them 0",
        "use a smooth version (logsumexp, softmax) if all elements are to learn",
    )


def at_part(q: Question, step: Step, dead: Any) -> Told:
    return (
        f"only a part of {operand(step) or q.name} is used: "
        f"{text(step)}{where(q, step)} takes some entries, and {short(step)} fills the rest with zeros",
        f"use the other entries of {operand(step) or q.name} too, if they are to have a gradient",
    )


def at_overwrite(q: Question, step: Step, dead: Any) -> Told:
    target = text(step)
    if not in_place(step):
        return (
            f"{target}{where(q, step)} puts a constant in the place of those entries: the result no longer depends on {q.name} there, so "
            f"{short(step)} lets nothing flow back",
            "nothing is wrong; leave those entries as they are if they are to learn",
        )
    return (
        f"{target}{overwritten_with(step)}{where(q, step)} overwrote, in place, the value computed from {q.name} before it was used: what "
        f"stands there is now a constant, so {short(step)} lets nothing flow back to {q.name} there",
        "write into a copy: y = y.clone(), or build the result with torch.where or torch.cat",
    )


def in_place(step: Step) -> bool:
    """Whether an op wrote into its input: `y[0] = …`, `y.fill_(…)`, and what the engine makes for a write through a view."""
    node = expression(step)
    return not isinstance(node, ast.Call) or called(node).endswith("_")


def overwritten_with(step: Step) -> str:
    statement = step.where.statement if step.where else None
    return f" = {ast.unparse(statement.value)}" if isinstance(statement, ast.Assign) and "[" in text(step) and "=" not in text(step) else ""


def at_norm(q: Question, step: Step, dead: Any) -> Told:
    of = operand(step) or "its input"
    if base(step) in ("Std", "Var"):
        return (
            f"all values of {of} are equal{where(q, step)}: the spread is 0, its smallest value, where {text(step)} has a kink, and "
            f"{short(step)} uses the subgradient 0 there",
            "nothing is wrong; add some noise if they are to move apart",
        )
    return (
        f"{of} is 0 everywhere, where {text(step)}{where(q, step)} has a kink and no derivative: "
        f"{short(step)} uses the subgradient 0 there",
        "nothing is wrong; start away from 0 if it is to move",
    )


def at_minimum(q: Question, step: Step, dead: Any) -> Told:
    return (
        f"the two sides of {text(step)}{where(q, step)} are equal there: the loss is at its minimum, and its slope is 0",
        "nothing is wrong: there is nothing left to learn there",
    )


def any_op(q: Question, step: Step, dead: Any) -> Told:
    return (
        f"{text(step)}{where(q, step)} does not change with {operand(step) or 'its input'}{'' if whole(dead) else ' there'}: "
        f"{short(step)} passes back zeros",
        "look at the values that go into that op",
    )


FLAT: dict[str, Callable[[Question, Step, Any], Told]] = {
    **dict.fromkeys(("Relu", "Threshold", "Relu6", "Hardsigmoid", "Hardswish", "Softshrink", "Hardshrink", "LeakyRelu", "Prelu"), at_relu),
    **dict.fromkeys(("Clamp", "ClampMin", "ClampMax", "Hardtanh", "Clip"), at_clamp),
    **dict.fromkeys(("Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn", "Fix", "Heaviside", "FloorDivide"), at_step),
    **dict.fromkeys(("Sigmoid", "Tanh", "Erf", "Gelu", "Silu", "Softplus", "LogSigmoid", "Exp", "Elu", "Selu", "Mish"), at_saturation),
    **dict.fromkeys(("Softmax", "LogSoftmax"), at_softmax),
    "Where": at_where,
    **dict.fromkeys(("Mul", "Mm", "Mv", "Dot", "Addmm", "Bmm", "Div", "Linear"), at_product),
    "Pow": at_power,
    "Abs": at_kink,
    **dict.fromkeys(("Max", "Min", "Amax", "Amin", "Maximum", "Minimum", "Fmax", "Fmin"), at_selection),
    **dict.fromkeys(("Topk", "Sort", "Kthvalue", "Median", "Mode", "MaxPool2DWithIndices"), at_selection),
    **dict.fromkeys(("Slice", "Select", "Index", "IndexSelect", "Gather", "Narrow", "Split", "SplitWithSizes", "Unbind"), at_part),
    **dict.fromkeys(("Diagonal", "Take", "AsStrided", "MaskedSelect", "Embedding", "Tril", "Triu", "Unfold"), at_part),
    **dict.fromkeys(("CopySlices", "IndexPut", "MaskedFill", "MaskedScatter", "Fill", "Zero", "Copy", "CopyBackwards"), at_overwrite),
    **dict.fromkeys(("Scatter", "IndexFill", "IndexCopy", "SliceScatter", "SelectScatter"), at_overwrite),
    **dict.fromkeys(("Norm", "LinalgVectorNorm", "Std", "Var"), at_norm),
    **dict.fromkeys(("MseLoss", "SmoothL1Loss", "HuberLoss"), at_minimum),
}  # fmt: skip


def not_seen(q: Question) -> Answer | None:
    if not all_zero(q):
        return None
    return answer(
        "zero",
        f"{what(q)}; which op let nothing through is not known, "
        + ("because backward was not watched." if q.last is None else "each step passed something on."),
        fix="run the program again after `import gradrepl; gradrepl.why`, or step(loss) to see each gradient",
    )


RULES = (reset, hooked, partly_cut, cancelled, lost_in_op, not_seen)
