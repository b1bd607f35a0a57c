"""Why a gradient has the value it has, when that surprises: rules, the surest first. Imports question, steps, answer, program."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradrepl.graphs.protocol import is_tensor
from gradrepl.insight.algebra import in_brackets
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.program import base_name, called
from gradrepl.insight.causes.question import Question
from gradrepl.insight.causes.slicing import kind_of_cut
from gradrepl.insight.causes.steps import (
    array,
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
    saved,
    short,
    text,
    where,
)
from gradrepl.insight.causes.zeros import arrived
from gradrepl.insight.history import Arrival, Pass, Step
from gradrepl.insight.numerals import Summary, number, numbers
from gradrepl.insight.places import Place

COUNTS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def shown(q: Question) -> str:
    return numbers(q.values)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Summary) or isinstance(b, Summary):
        a, b = (x if x is None or isinstance(x, Summary) else Summary(np.asarray(x)) for x in (a, b))
    a, b = array(a), array(b)
    return a is None or b is None or a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=True))


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
        f"order for {q.name}: tensor hook ({q.where(event.where)}), then AccumulateGrad adds {numbers(arrival.incoming)} to "
        f"{q.name}.grad = {before}",
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


def masked_copy(q: Question) -> Answer | None:
    """`y[mask].mul_(0)`: the write went into a copy."""
    for statement in q.source.owner:
        call = statement.value if isinstance(statement, ast.Expr) else None
        method = call.func if isinstance(call, ast.Call) else None
        if not isinstance(method, ast.Attribute) or not isinstance(method.value, ast.Subscript) or not method.attr.endswith("_"):
            continue
        tensor = q.variable(base_name(method.value))
        if not is_tensor(tensor) or not tensor.requires_grad or not copies(q, method.value.slice) or not q.takes_part(tensor):
            continue
        copy, target = q.text(method.value), q.text(method.value.value)
        return answer(
            "write into a copy",
            f"{q.name}.grad is {shown(q)} because {copy} makes a copy, not a view: {method.attr}() on {q.where(statement)} changed that "
            f"copy and left {target} unchanged; write {copy} = …, or use masked_fill or torch.where.",
            f"{target} is at version {tensor._version}; {copy} on {q.where(statement)} is the output of IndexBackward0, with its own "
            "memory, and is used by nothing",
            fix=f"{copy} = {assigned(q, call)}",  # type: ignore[arg-type]
        )
    return None


def written_copy(q: Question) -> Answer | None:
    """`flat = y.t().reshape(-1); flat.mul_(0)`: a named copy was written, what it was made from was not."""
    if q.last is None:
        return None
    used = {step.key for step in q.last.steps}
    for write in q.writes:
        name = next((base_name(e) for e in parsed(write.where.text)), "")
        tensor, made = q.variable(name), q.definition(name)
        of = base_name(stripped(getattr(made, "value", None)))
        source = q.variable(of)
        if not is_tensor(tensor) or not is_tensor(source) or of == name or not source.requires_grad or tensor._is_view():
            continue
        if tensor.grad_fn is None or tensor.grad_fn._sequence_nr() in used or not isinstance(made, ast.Assign) or not q.takes_part(source):
            continue
        return answer(
            "write into a copy",
            f"{q.name}.grad is {shown(q)} because {name} = {q.text(made.value)} on {q.where(made)} makes a copy of {of}, not a view: "
            f"{write.where.text} on {q.where(write.where)} changed that copy and left {of} unchanged.",
            f"{name}._is_view() is False; {of} is at version {source._version}; {name} is not used by {q.root_name}",
            fix=f"write into {of} itself, or compute {q.root_name} from {name}",
        )
    return None


def assigned(q: Question, call: ast.Call) -> str:
    method: Any = call.func
    target = q.text(method.value)
    argument = q.text(call.args[0]) if call.args else ""
    operators = {"mul_": "*", "add_": "+", "sub_": "-", "div_": "/"}
    if method.attr in operators:
        return "0" if method.attr == "mul_" and argument in ("0", "0.0") else f"{target} {operators[method.attr]} {argument}"
    return {"zero_": "0", "fill_": argument}.get(method.attr, f"{target}.{method.attr[:-1]}({argument})")


def copies(q: Question, index: ast.expr) -> bool:
    """Whether indexing with this gives a copy: a mask, a list or tensor of indices."""
    if isinstance(index, ast.Tuple):
        return any(copies(q, element) for element in index.elts)
    if isinstance(index, (ast.Compare, ast.List)):
        return True
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert):
        return copies(q, index.operand)
    if isinstance(index, ast.BinOp):
        return copies(q, index.left)
    thing = q.variable(index.id) if isinstance(index, ast.Name) else None
    return isinstance(thing, list) or hasattr(thing, "dtype") and hasattr(thing, "shape") and len(thing.shape) > 0  # type: ignore[union-attr]


def shared_memory(q: Question) -> Answer | None:
    """A view and its base: a write to one changes the other."""
    rebuilt = next((s for s in q.on_path if base(s) == "AsStrided" and "as_strided" not in text(s)), None)
    if rebuilt is not None:
        return view_follows(q, rebuilt)
    through = next((s for s in q.on_path if base(s) == "CopySlices"), None)
    return base_follows(q, through) if through is not None else None


def written_view(q: Question, thing: Any) -> bool:
    """Whether a view of something in this pass, to which one of the two was written."""
    return is_tensor(thing) and thing._is_view() and thing.requires_grad and thing._version > 0 and q.takes_part(thing._base)


def view_follows(q: Question, step: Step) -> Answer | None:
    view, name = next(((t, n) for n, t in q.namespace.items() if written_view(q, t)), (None, ""))
    if view is None:
        return None
    base_tensor = view._base
    of = q.name_of(base_tensor) or "its base"
    write = last_write(q, of)
    made = q.definition(name)
    line = f"{write.text} on {q.where(write)}" if write else "a write in place"
    return answer(
        "view follows its base",
        f"{q.name}.grad is {shown(q)} because {name} is a view of {of}: {line} changed {of} in place and with it {name} too, for they "
        f"share memory, and autograd rebuilt {name}'s grad_fn ({short(step)}) on top of that write; use clone() to keep the old values.",
        f"{name}._base is {of}, both at version {view._version}; {name} was made on {q.where(made)}",
        f"now {named(q, step)} leads from {name} to {below(q, step)}",
        fix=f"{q.text(made)}.clone()" if isinstance(made, ast.Assign) else f"clone {name} before {of} is written",
    )


def below(q: Question, step: Step) -> str:
    found = next((s for s in q.on_path if step.edges and step.edges[0] and s.key == step.edges[0][0]), None)
    return named(q, found) if found else q.name


def last_write(q: Question, name: str) -> Place | None:
    """The last write in place to a name, or to what shares its memory."""
    found = [w.where for w in q.writes if name in (base_name(e) for e in parsed(w.where.text))]
    return (found or [w.where for w in q.writes] or [None])[-1]  # type: ignore[list-item]


def parsed(source: str) -> list[ast.AST]:
    """The targets of a write as written: `base` in `base.mul_(10)`, `y[0]`, `y += 1`."""
    try:
        node = ast.parse(source).body[0]
    except (SyntaxError, IndexError):
        return []
    if isinstance(node, ast.AugAssign):
        return [node.target]
    expression = node.value if isinstance(node, ast.Expr) else None
    return (
        [expression.func.value if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) else expression]
        if expression
        else []
    )


def base_follows(q: Question, step: Step) -> Answer | None:
    """A write through a named view changed the base as well."""
    for name, view in q.namespace.items():
        if not written_view(q, view) or name.startswith("_"):
            continue
        write = last_write(q, name)
        if write is None or base_name(next(iter(parsed(write.text)), ast.Constant(0))) != name:
            continue
        of = q.name_of(view._base) or "its base"
        return answer(
            "base follows its view",
            f"{q.name}.grad is {shown(q)} because {name} is a view of {of}: {write.text} on {q.where(write)} changed {of} too, for they "
            "share memory, and its graph now goes through that write (CopySlices).",
            f"{name}._base is {of}, both at version {view._version}",
            f"{named(q, step)}: {flow(q, step)}",
            fix=f"write into a copy: {name} = {name}.clone()",
        )
    return None


def changed_silently(q: Question) -> Answer | None:
    """A write through .data or a detached alias between forward and backward: no version tells."""
    if q.last is None or not q.on_path:
        return None
    ticks = [s.seen.tick for s in q.on_path if s.seen]
    for event in [*q.writes, *[e for e in q.events if e.kind == "set data"]]:
        source = event.where.text  # type: ignore[attr-defined]
        written = q.variable(base_name(stripped(next(iter(parsed(source)), None))))
        if is_tensor(written) and not q.takes_part(written):
            continue
        if ticks and min(ticks) < event.tick < q.last.tick and (".data" in source or getattr(event, "kind", "") == "set data"):  # type: ignore[attr-defined]
            return answer(
                "changed through .data",
                f"{q.name}.grad is {shown(q)} because {source} on {q.where(event.where)} changed the values between the forward pass "  # type: ignore[attr-defined]
                "and backward(), and .data hides that from autograd: the derivative was taken at the new values, without an error.",
                f"forward on {q.where(next(s.where for s in q.on_path if s.where))}, then {q.where(event.where)}: {source}, then "  # type: ignore[attr-defined]
                f"backward() on {q.where(q.last.where)}",
                fix="write under torch.no_grad() instead of through .data, so that autograd notices; or compute the loss again",
            )
    return None


def changed_afterwards(q: Question) -> Answer | None:
    """.grad was written after backward: clipping, scaling, another assignment."""
    found = [a for p, a in q.arrivals if p.kind == "backward"]
    if not found or same(found[-1].after, q.values) or not nonzero(q.values):
        return None
    last = [p for p, _ in q.arrivals][-1]
    place = q.gradient_written(last.tick)
    if place is None:
        return None
    return answer(
        "changed afterwards",
        f"{q.name}.grad is {shown(q)} and not {numbers(found[-1].after)}, as backward() left it, because {place.text} on "
        f"{q.where(place)} changed it afterwards.",
        f"after backward() on {q.where(last.where)}: {numbers(found[-1].after)}; now {shown(q)}",
        fix=f"look at {q.name}.grad before that line",
    )


def alias_written(q: Question) -> Answer | None:
    """d = y.detach() (or .data, .numpy()) shares memory with y: a write to d changes y."""
    for (scope, name), definitions in q.source.definitions.items():
        whole = next((d for d in reversed(definitions) if not d.partial), None)
        kind = kind_of_cut(whole.value) if whole else None
        if scope is not None or whole is None or kind not in ("detach", "data", "numpy") or is_library(q, whole.value):
            continue
        writes = [d for d in definitions if d.partial and d.order > whole.order]
        of = base_name(stripped(whole.value))
        tensor = q.variable(of)
        if not writes or of == name or not is_tensor(tensor) or not tensor.requires_grad or not q.takes_part(tensor):
            continue
        write = writes[-1].statement
        return answer(
            "alias written",
            f"{q.name}.grad is {shown(q)} because {name} = {q.text(whole.value)} on {q.where(whole.statement)} shares its memory with "
            f"{of}: {q.text(write)} on {q.where(write)} changed the values of {of} too, and the gradient was computed with the changed "
            "values.",
            f"{name} and {of} are one piece of memory: {kind} copies nothing",
            fix=f"{name} = {q.text(whole.value)}.{'copy' if kind == 'numpy' else 'clone'}()",
        )
    return None


def stripped(node: Any) -> Any:
    """`y` in `y.detach().numpy()`."""
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def is_library(q: Question, node: Any) -> bool:
    return q.text(node).startswith(("torch.", "np.", "numpy."))


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
                f"{q.name}.grad is {shown(q)} because {operand(step) or 'the input'} lies exactly on a bound of "
                f"{text(step)}{where(q, step)}: there clamp has slope 1, it still passes the gradient on; only outside the bounds the "
                "slope is 0.",
                f"{named(q, step)}: {operand(step) or 'input'} = {numbers(values)}, bounds {', '.join(numbers(b) for b in bounds)}; "
                f"{flow(q, step)}",
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
        f"{q.name}.grad is {shown(q)} because {q.name} is used {len(sent)} times, and backward() adds up the contributions of all uses: "
        f"{parts}.",
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
            "explain(loss) writes the chain rule out, step(loss) goes through it number by number, check(f, x) compares it with "
            "numeric differences"
        ),
    )


FIRST = (
    broadcast,
    accumulated,
    hook_too_early,
    hook_changed,
    hook_writes,
    changed_afterwards,
    masked_copy,
    written_copy,
    changed_silently,
    alias_written,
    shared_memory,
    shared_by_ties,
    at_a_bound,
)  # before zeros are looked at
RULES = (seeded, expanded, used_often, sum_or_mean, nothing_unusual)
