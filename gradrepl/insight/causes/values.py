"""Why a gradient has the value it has, when that surprises: rules, the surest first. Imports question, steps, answer, program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradrepl.graphs.protocol import is_tensor
from gradrepl.insight.algebra import in_brackets
from gradrepl.insight.causes import memory
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.program import called
from gradrepl.insight.causes.question import Question
from gradrepl.insight.causes.steps import (
    array,
    arrived,
    base,
    contributions,
    expression,
    flow,
    formula,
    incoming,
    named,
    nonzero,
    operand,
    outgoing,
    same,
    saved,
    short,
    shown,
    text,
    where,
)
from gradrepl.insight.history import Arrival, Pass, Step
from gradrepl.insight.numerals import number, numbers

COUNTS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


# ---- what to look at before zeros


def accumulated(q: Question) -> Answer | None:
    """Several backward passes without a reset."""
    chain: list[tuple[Pass, Arrival]] = []
    for run, arrival in q.arrivals:
        if run.kind != "backward" or arrival.incoming is None:
            continue
        fresh = arrival.before is None or not nonzero(arrival.before)
        chain = [(run, arrival)] if fresh else [*chain, (run, arrival)]
    if len(chain) < 2 or not same(chain[-1][1].after, q.values):
        return None
    each = [numbers(a.incoming) for _, a in chain]
    lines = sorted({q.where(run.where) for run, _ in chain})
    parts = f"each added {each[0]}" if len(set(each)) == 1 else f"added {', '.join(each[:-1][:4])} and {each[-1]}"
    return answer(
        "accumulated",
        f"{q.name}.grad is {shown(q)} and not {each[-1]} because backward() adds to .grad instead of replacing it: "
        f"{COUNTS.get(len(chain), len(chain))} calls ({', '.join(lines)}) {parts}, and nothing reset {q.name}.grad in between "
        f"(optimizer.zero_grad() or {q.name}.grad = None).",
        "AccumulateGrad: None -> " + " -> ".join(numbers(a.after) for _, a in chain[-6:]),
        fix=f"{q.name}.grad = None (or optimizer.zero_grad()) before each backward()",
    )


def hook_too_early(q: Question) -> Answer | None:
    """A tensor hook that works on .grad, which is not there yet."""
    hooks = [e for e in q.events if e.kind == "register_hook" and e.tensor is q.tensor and "grad" in getattr(e.detail, "co_names", ())]
    if not hooks or not q.arrivals or not q.tensor.is_leaf or "post_accumulate" in hooks[-1].where.text:
        return None
    event, arrival = hooks[-1], q.arrivals[-1][1]
    before = "None" if arrival.before is None else numbers(arrival.before)
    return answer(
        "hook before accumulation",
        f"{q.name}.grad is {shown(q)} because a hook set with register_hook() ({q.where(event.where)}) runs before AccumulateGrad adds "
        f"the new gradient to {q.name}.grad: it worked on the old {q.name}.grad ({before}); return the new gradient from the hook, or use "
        "register_post_accumulate_grad_hook().",
        f"order for {q.name}: tensor hook ({q.where(event.where)}), "
        f"then AccumulateGrad adds {numbers(arrival.incoming)} to {q.name}.grad = {before}",
        fix=f"{q.name}.register_post_accumulate_grad_hook(…), or return the changed gradient from the hook",
    )


def hook_changed(q: Question) -> Answer | None:
    """A hook returned another gradient."""
    for step in q.on_path:
        came = arrived(q, step.key)
        if (
            came is not None
            and nonzero(incoming(step))
            and len(step.incoming) == 1
            and not same(came, incoming(step))
            and np.shape(came) == np.shape(incoming(step))
        ):
            return hook_said(q, named(q, step), step.key, came, incoming(step))
    if q.tensor.is_leaf and q.arrivals and getattr(q.tensor, "_backward_hooks", None):
        came, arrival = arrived(q, id(q.tensor)), q.arrivals[-1][1]
        added = array(arrival.after)
        if added is not None and arrival.before is not None:
            added = added - arrival.before
        if came is not None and nonzero(added) and np.shape(came) == added.shape and not same(came, added):
            return hook_said(q, q.name, q.key, came, added)
    return None


def hook_writes(q: Question) -> Answer | None:
    """A hook that changes the gradient it gets in place: `lambda g: g.mul_(0.5)`."""
    for event in reversed(q.events):
        writes = [n for n in getattr(event.detail, "co_names", ()) if n.endswith("_") and not n.startswith("_")]
        if event.kind == "register_hook" and writes and event.tensor is not None and q.takes_part(event.tensor):
            return answer(
                "hook",
                f"{q.name}.grad is {shown(q)} because a hook (set on {q.where(event.where)}) changes the gradient in place with "
                f"{writes[0]}(): what it does to its argument goes on to everything below.",
                f"{q.where(event.where)}: {event.where.text}",
                fix="compute a new gradient in the hook and return it, or remove the hook with handle.remove()",
            )
    return None


def hook_said(q: Question, at: str, key: int, came: Any, went: Any) -> Answer:
    event = q.hook_on(key)
    line = f" (set on {q.where(event.where)})" if event else ""
    return answer(
        "hook",
        f"{q.name}.grad is {shown(q)} because a hook{line} changed the gradient: what a hook returns replaces it, and here "
        f"{numbers(came)} became {numbers(went)}.",
        f"at {at}: {numbers(came)} before the hook, {numbers(went)} after it",
        event and f"{q.where(event.where)}: {event.where.text}",
        fix="return None from the hook to leave the gradient as it is, or remove the hook with handle.remove()",
    )


def broadcast(q: Question) -> Answer | None:
    """(n, 1) with (n,): both sides grow to (n, n)."""
    for step in q.on_path:
        shapes = [shape for i in range(2) if (shape := operand_shape(q, step, i)) is not None]
        out = np.shape(incoming(step))
        if base(step) not in ("Sub", "Add", "Mul", "Div", "MseLoss", "Pow", "Expand") or len(shapes) < 2:
            continue
        if all(np.prod(s) > 1 and np.prod(s) < np.prod(out) for s in shapes):
            left, right = (tuple(s) for s in shapes)
            return answer(
                "broadcast",
                f"{q.name}.grad is {shown(q)} because {text(step)}{where(q, step)} was broadcast: shapes {left} and {right} together give "
                f"{tuple(out)}, so every element meets every other one, and the gradient sums over all {int(np.prod(out))} pairs.",
                f"{named(q, step)}: output {tuple(out)}",
                fix=f"bring both sides to one shape first, for example {operand(step, 0)}.squeeze(-1) or {operand(step, 1)}.unsqueeze(-1)",
            )
    return None


def operand_shape(q: Question, step: Step, index: int) -> Any:
    """The shape of an input: of what came into the node below, of the leaf, or of the variable."""
    thing: Any = q.variable(operand(step, index))
    if is_tensor(thing):
        return tuple(thing.shape)
    edge = step.edges[index] if index < len(step.edges) else None
    other = q.last_steps.get(edge[0]) if edge else None
    if edge and other is not None and edge[1] < len(other.incoming) and array(other.incoming[edge[1]]) is not None:
        return np.shape(other.incoming[edge[1]])
    return next((a.shape for a in q.last.arrivals if edge and a.key == edge[0]), None) if q.last else None


def seeded(q: Question) -> Answer | None:
    """backward(gradient=…) that is not 1."""
    first = incoming(q.on_path[0]) if q.on_path else None
    if first is None or same(first, np.ones_like(first)) or q.last is None:
        return None
    return answer(
        "started with another gradient",
        f"{q.name}.grad is {shown(q)} because backward() on {q.where(q.last.where)} started with the gradient {numbers(first)} instead "
        "of 1, and everything is multiplied by it.",
        f"{q.where(q.last.where)}: {q.last.where.text}",
        fix="call backward() without an argument, on a scalar",
    )


def shared_by_ties(q: Question) -> Answer | None:
    """amax and max() share the gradient between equal elements."""
    for step in q.on_path:
        if base(step) not in ("Max", "Min", "Amax", "Amin", "Maximum", "Minimum"):
            continue
        sent = [array(g) for g in outgoing(q, step)]
        values = [v for g in sent if g is not None for v in np.unique(np.abs(g[g != 0]))]
        came = array(incoming(step))
        if came is not None and values and min(values) < np.abs(came).max() * 0.999:
            share = round(float(np.abs(came).max() / min(values)))
            name = called_name(step)
            return answer(
                "ties",
                f"{q.name}.grad is {shown(q)} because {share} elements are equally {'large' if 'ax' in base(step) else 'small'} in "
                f"{text(step)}{where(q, step)}: {name} shares the gradient between them, {number(min(values))} each (max(dim=…) would "
                "give it all to one index).",
                f"{named(q, step)}: {flow(q, step)}",
                formula(q, step),
                fix="nothing is wrong: at a tie there is no single derivative; max(dim) picks one element",
            )
    return None


def called_name(step: Step) -> str:
    return f"{called(expression(step)) or base(step).lower()}()"


def at_a_bound(q: Question) -> Answer | None:
    """clamp has slope 1 exactly at its bounds."""
    for step in q.on_path:
        values = saved(step, "self")
        bounds = [b for n in ("min", "max") if (b := saved(step, n)) is not None]
        if base(step) not in ("Clamp", "ClampMin", "ClampMax", "Hardtanh") or values is None or not bounds:
            continue
        if any((values == b).any() for b in bounds):
            return answer(
                "at a bound",
                f"{q.name}.grad is {shown(q)} because {operand(step) or 'the input'} lies "
                f"exactly on a bound of {text(step)}{where(q, step)}: "
                "there clamp has slope 1, it still passes the gradient on; only outside the bounds the slope is 0.",
                f"{named(q, step)}: {operand(step) or 'input'} = {numbers(values)}, "
                f"bounds {', '.join(numbers(b) for b in bounds)}; {flow(q, step)}",
                formula(q, step),
                fix="nothing is wrong: a value on the bound counts as inside",
            )
    return None


def expanded(q: Question) -> Answer | None:
    """One value that stands at several places."""
    for step in q.on_path:
        count = np.size(incoming(step)) // max(1, max([np.size(g) for g in outgoing(q, step)] or [1]))
        if base(step) in ("Expand", "Repeat", "RepeatInterleave") and count > 1:
            return answer(
                "expanded",
                f"{q.name}.grad is {shown(q)} because {text(step)}{where(q, step)} puts each value at {count} places, and {short(step)} "
                f"adds up the gradients of all {count}.",
                f"{named(q, step)}: {flow(q, step)}",
                summed_note(q),
                fix="nothing is wrong; divide by the count, or take a mean, if the average is meant",
            )
    return None


def used_often(q: Question) -> Answer | None:
    """The leaf is used at several places, and their contributions add up."""
    sent = contributions(q)
    if len({s.key for s, _ in sent}) < 2:
        return None
    parts = " + ".join(numbers(g) for _, g in sent[:5])
    return answer(
        "used several times",
        f"{q.name}.grad is {shown(q)} because {q.name} is used {len(sent)} times, "
        f"and backward() adds up the contributions of all uses: {parts}.",
        *(f"{named(q, s)}: {text(s)} contributes {numbers(g)}" for s, g in sent[:6]),
        summed_note(q),
        fix=f"nothing is wrong; to leave a use out, detach it: {q.name}.detach()",
    )


def summed(q: Question) -> Step | None:
    """A sum over several elements at the end of the computation."""
    for step in q.on_path[:3]:
        if base(step) in ("Sum", "Mean") and np.size(incoming(step)) == 1 and any(np.size(g) > 1 for g in outgoing(q, step)):
            return step
    return None


def summed_note(q: Question) -> str | None:
    step = summed(q)
    return step and f"{named(q, step)}: {flow(q, step)}"


def sum_or_mean(q: Question) -> Answer | None:
    """sum() gives n times the gradient of mean()."""
    step = summed(q)
    if step is None:
        return None
    count = max(np.size(g) for g in outgoing(q, step))
    values, of = q.values, in_brackets(operand(step) or "the elements")
    if base(step) == "Sum":
        other = (
            f"{q.name}.grad is {shown(q)}, {count} times the {numbers(values / count)} of the mean, because {is_step(q, step)} and not "
            f"a mean over the {count} elements"
        )
        tail = f"SumBackward0 passes 1 to each of the {count} where MeanBackward0 would pass 1/{count}"
        fix = f"{of}.mean(), if the mean is meant"
    else:
        other = (
            f"{q.name}.grad is {shown(q)}, 1/{count} of the {numbers(values * count)} of the sum, because {is_step(q, step)}: the mean "
            f"divides by the number of elements, {count}"
        )
        tail = f"MeanBackward0 passes 1/{count} to each where SumBackward0 would pass 1"
        fix = f"{of}.sum(), if the sum is meant"
    return answer("sum or mean", f"{other}: {tail}.", f"{named(q, step)}: {flow(q, step)}", *chain(q), fix=fix)


def is_step(q: Question, step: Step) -> str:
    """ "loss is error.sum() (line 7)"."""
    same_text = q.root_name == text(step)
    return f"the result is {text(step)}{where(q, step)}" if same_text else f"{q.root_name} is {text(step)}{where(q, step)}"


def chain(q: Question) -> list[str]:
    return [f"{named(q, s)}: {flow(q, s)}" for s in q.on_path[1:5]]


def nothing_unusual(q: Question) -> Answer:
    """Say what was looked for."""
    if q.last is None:
        note = "backward was not watched, so how it came about is not known."
    else:
        note = f"that is what the chain rule gives through {', '.join(short(s) for s in q.on_path[:6]) or 'the graph'}."
    return answer(
        "as computed",
        f"{q.name}.grad is {shown(q)}: {note}",
        *chain(q),
        "looked for: accumulation, hooks, writes in place, views, broadcasting, ties, sum against mean, several uses; found none of them",
        fix=(
            "explain(loss) writes the chain rule out, step(loss) goes through it "
            "number by number, check(f, x) compares it with numeric differences"
        ),
    )


FIRST = (
    broadcast,
    accumulated,
    hook_too_early,
    hook_changed,
    hook_writes,
    memory.changed_afterwards,
    memory.masked_copy,
    memory.written_copy,
    memory.changed_silently,
    memory.alias_written,
    memory.shared_memory,
    shared_by_ties,
    at_a_bound,
)  # before zeros are looked at
RULES = (seeded, expanded, used_often, sum_or_mean, nothing_unusual)
