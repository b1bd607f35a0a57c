"""Why a gradient has the value it has: what was written in place, and what shares its memory. Imports question, steps, answer."""

from __future__ import annotations

import ast
from typing import Any

from gradrepl.graphs.protocol import is_tensor
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.program import base_name
from gradrepl.insight.causes.question import Question
from gradrepl.insight.causes.slicing import kind_of_cut
from gradrepl.insight.causes.steps import base, flow, named, nonzero, same, short, shown, text
from gradrepl.insight.history import Event, Step
from gradrepl.insight.numerals import numbers
from gradrepl.insight.places import Place


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
    writes: list[Any] = [*q.writes, *[e for e in q.events if e.kind == "set data"]]
    for event in writes:
        source = event.where.text
        written = q.variable(base_name(stripped(next(iter(parsed(source)), None))))
        if is_tensor(written) and not q.takes_part(written):
            continue
        if ticks and min(ticks) < event.tick < q.last.tick and (".data" in source or isinstance(event, Event)):
            return answer(
                "changed through .data",
                f"{q.name}.grad is {shown(q)} because {source} on {q.where(event.where)} changed the values between the forward pass "
                "and backward(), and .data hides that from autograd: the derivative was taken at the new values, without an error.",
                f"forward on {q.where(next(s.where for s in q.on_path if s.where))}, then {q.where(event.where)}: {source}, then "
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
            f"{q.name}.grad is {shown(q)} because {name} = {q.text(whole.value)} on "
            f"{q.where(whole.statement)} shares its memory with {of}: "
            f"{q.text(write)} on {q.where(write)} changed the values of {of} too, and the gradient was computed with the changed values.",
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
