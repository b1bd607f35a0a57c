"""Writes in place that autograd refuses: what the error means in this program. Imports failure, answer."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradrepl.graphs.protocol import is_tensor
from gradrepl.insight.algebra import from_library
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.failure import Failure, operand_names, target_tensor
from gradrepl.insight.causes.program import base_name
from gradrepl.insight.causes.question import same_storage
from gradrepl.insight.history import Write
from gradrepl.insight.observer import seen
from gradrepl.insight.places import Place, source_of


def modified(f: Failure) -> Answer | None:
    found = re.search(
        r"\[torch\.\w+ \[(.*?)\]\](?:, which is output (\d+) of ([\w:]+),)? is at version (\d+); expected version (\d+)", f.message
    )
    if not found:
        return None
    now, then = int(found[4]), int(found[5])
    spoilt = spoilt_node(f, then, now)
    node, slot, names, place, id = spoilt or (failed_name(f), "", [], failed_place(f), "")
    write = write_between(f, names, then, now, place)
    name = names[0] if names else written_name(write) or "a saved tensor"
    through = written_name(write)
    how = f"{one_line(write)} on {f.where(write.where)} changed {name} in place" if write else static_story(f, name)
    if through and through != name and is_tensor(view := f.value_of(through)) and view._is_view():
        how += f" ({through} is a view of it)"
    producer = f"{node}" + (f" ({f.where(place)})" if place else "")
    fix = out_of_place(f, write, through or name)
    return answer(
        "saved tensor modified",
        f"{how}, but {producer} had saved {name} for its derivative: "
        f"it was saved at version {then} and is now at version {now}, so {instead(fix)}.",
        f"{node}{id}._saved_{slot or 'self'} is {name}: "
        f"version {then} when saved{f' ({f.where(place)})' if place else ''}, version {now} now",
        f"output {found[2]} of {found[3]}" if found[3] else None,
        fix=fix,
    )


def static_story(f: Failure, name: str) -> str:
    statement = static_write(f, name)
    return (
        f"{f.text(statement)} on {f.where(statement)} changed {name} in place" if statement is not None else f"{name} was changed in place"
    )


def instead(fix: str) -> str:
    return f"write {fix} instead" if "=" in fix and not fix.startswith(("call", "compute", "change")) else fix


def one_line(write: Write) -> str:
    """A write as the program writes it: the statement, or the call."""
    whole = isinstance(write.where.statement, (ast.AugAssign, ast.Assign)) and "(" not in write.where.text
    return write.where.statement_text if whole else write.where.text


def spoilt_node(f: Failure, then: int, now: int) -> tuple[str, str, list[str], Place | None, str] | None:
    """The node whose saved tensor was changed: (name, slot, names of the tensor, where, id)."""
    graph = f.graph(f.roots) if f.roots else None
    for node in graph.graph.nodes if graph else ():
        for saved in node.saved:
            if saved.expected is not None and saved.expected != saved.version and saved.expected == then and saved.version == now:
                kept = seen(graph.functions[node.id])  # type: ignore[union-attr]
                place = kept.where if kept else None
                result = place and f.target_of(place.statement) if saved.slots[0].startswith("result") else ""
                names = list(saved.names) or ([result] if result else operand_names(place.text if place else "", saved.slots[0]))
                return node.name, saved.slots[0], names, place, f" {node.id}"
    return None


def failed_name(f: Failure) -> str:
    failed = f.passes[-1].failed if f.passes else None
    return failed[1].rpartition("::")[2] if failed else "an op"


def failed_place(f: Failure) -> Place | None:
    failed = f.passes[-1].failed if f.passes else None
    return failed[2].where if failed and failed[2] else None


def write_between(f: Failure, names: list[str], then: int, now: int, place: Place | None) -> Write | None:
    """The first write that took the saved tensor beyond its version."""
    writes = [w for w in f.writes if then < w.version <= now]
    tensors = [t for t in (f.value_of(n) for n in names) if is_tensor(t)]
    own = [w for w in writes if any(same_storage(t, w) for t in tensors)]
    named = [w for w in writes if written_name(w) in names]
    return (own or named or writes or [None])[0]  # type: ignore[list-item]


def written_name(write: Write | None) -> str:
    """The variable that a write went to, by its source."""
    if write is None:
        return ""
    called_on = next(iter(written_in(write.where.text)), None)
    if called_on is not None:
        return base_name(called_on)
    statement = write.where.statement
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) else statement.target if isinstance(statement, ast.AugAssign) else None
    )
    return base_name(target) if target is not None else ""


def written_in(text: str) -> list[ast.AST]:
    """What a call writes: `y` in `y.mul_(2)` and `torch.relu_(y)`."""
    found = targets_of(text)
    call: Any = ast.parse(text, mode="eval").body if found else None
    if isinstance(call, ast.Call) and from_library(call.func):
        return call.args[:1]  # type: ignore[return-value]
    return found if "(" in text else []


def static_write(f: Failure, name: str) -> ast.stmt | None:
    for definitions in f.source.definitions.items():
        if definitions[0][1] == name:
            found = [d.statement for d in definitions[1] if d.partial]
            if found:
                return found[-1]  # type: ignore[return-value]
    return None


OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def out_of_place(f: Failure, write: Write | None, name: str) -> str:
    statement = write.where.statement if write else static_write(f, name)
    if write is not None and write.where.text.endswith(".step()"):
        return f"call {write.where.text} after the last backward() that needs the old values, or compute the result again after it"
    tensor = f.value_of(name)
    if is_tensor(tensor) and tensor.requires_grad and tensor.is_leaf:
        return f"change {name} only after the last backward() that needs its old value, or compute the result again after the change"
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and type(statement.op) in OPERATORS:
        value = source_of(write.where.filename, statement.value) if write else f.text(statement.value)
        return f"{name} = {name} {OPERATORS[type(statement.op)]} {value}"
    call = statement.value if isinstance(statement, ast.Expr) else None
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.attr not in ("zero_", "fill_")
    ):
        return f"{name} = {name}.{call.func.attr[:-1]}({', '.join(map(ast.unparse, call.args))})"
    return f"{name} = {name}.clone() before the write"


def detached_in_place(f: Failure) -> Answer:
    event = next((e for e in reversed(f.events) if e.kind == "detach_"), None)
    text, where = (event.where.text, f.where(event.where)) if event else ("detach_()", "an earlier line")
    name = base_name(next(iter(targets_of(text)), ast.Constant(0))) or "a tensor"
    return answer(
        "detached in place",
        f"{text} on {where} detached {name} in place, but a node had saved {name} for its derivative and backward ({f.line}) still needs "
        f"its place in the graph; use the out-of-place {name}.detach() instead.",
        f"{where}: {text}",
        fix=f"{name}_values = {name}.detach()",
    )


def targets_of(text: str) -> list[ast.AST]:
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return []
    return [node.func.value] if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else [node]


def leaf_written(f: Failure) -> Answer:
    name, tensor = target_tensor(f)
    statement = f.statement_text()
    if "a view of a leaf" not in f.message or not is_tensor(tensor) or tensor.is_leaf and not tensor._is_view():
        direct = "a view of a leaf" in f.message
        how = f"writes through a view of {name}, a leaf" if direct else f"would change {name} in place, but {name} is a leaf"
        return answer(
            "leaf written in place",
            f"{statement} on {f.line} {how} that requires grad: autograd does not allow that, for the value that the leaf had in the "
            "graph would be lost; do it under torch.no_grad().",
            f"{name}.is_leaf is True, {name}.requires_grad is True, grad mode is on",
            fix=f"with torch.no_grad(): {statement}",
        )
    base = tensor._base
    of = f.name_of(base) or "a leaf"
    made = f.made_at(tensor) or f.definition_of(name)
    return answer(
        "view of a leaf written in place",
        f"{name} is a view of {of}, a leaf that requires grad, so {statement} on "
        f"{f.line} would change the leaf {of} in place: do it under torch.no_grad().",
        f"{name}._base is {of} (is_leaf True, requires_grad True); "
        f"{name}.grad_fn is {tensor.grad_fn.name() if tensor.grad_fn else None} ({f.where(made)})",
        fix=f"with torch.no_grad(): {statement}",
    )


def several_views(f: Failure) -> Answer:
    maker = re.search(r"Output \d+ of (\w+?)(Backward\d*)? is a view", f.message)
    kind = (maker[1] if maker else "split").lower()
    name, tensor = target_tensor(f)
    base = tensor._base if is_tensor(tensor) else None
    loop = loop_over(f, name)
    of = (f.name_of(base) if base is not None else "") or (loop[1] if loop else "the tensor")
    made = (
        f"Iterating over {of} ({f.where(loop[0])}) calls {kind}(), which"
        if loop and kind == "unbind"
        else f"{kind}() of {of}{made_on(f, name)}"
    )
    statement = f.statement_text()
    return answer(
        "one of several views",
        f"{made} makes several views at once, and such a view, {name}, cannot be changed in place ({statement}, {f.line}): compute it "
        f"out of place instead, on the whole of {of}.",
        f"{name}._base is {of}, grad_fn {tensor.grad_fn.name() if is_tensor(tensor) and tensor.grad_fn else '?'}; "
        f"in-place write on {f.line}",
        fix=f"{of} = {of} - … for the whole tensor, or {name} = {name}.clone() first",
    )


def made_on(f: Failure, name: str) -> str:
    statement = f.definition_of(name)
    return f" ({f.where(statement)})" if statement is not None else ""


def loop_over(f: Failure, name: str) -> tuple[ast.For, str] | None:
    """The loop that gives a variable its values, and what it goes over."""
    for node in f.source.owner:
        if isinstance(node, ast.For) and any(isinstance(t, ast.Name) and t.id == name for t in ast.walk(node.target)):
            tensors = [n.id for n in ast.walk(node.iter) if isinstance(n, ast.Name) and is_tensor(f.variable(n.id))]
            return node, tensors[0] if tensors else f.text(node.iter)
    return None


def no_grad_view(f: Failure) -> Answer:
    name, _ = target_tensor(f)
    made = f.definition_of(name)
    mode = "inference_mode" if "inference mode" in f.message else "no_grad"
    return answer(
        "view made in no_grad",
        f"{name} is a view that was made under {mode} ({f.where(made)}), and {f.statement_text()} "
        f"on {f.line} changes it in place while grad mode is on: autograd cannot tell whether the write is to be recorded; "
        f"make the view and write it on the same side of the {mode} block.",
        f"{f.where(made)}: {f.text(made)}" if made is not None else None,
        fix=f"move the line that makes {name} out of the {mode} block, or the write into it",
    )


def overlapping(f: Failure) -> Answer:
    name, tensor = target_tensor(f)
    return answer(
        "expanded tensor written",
        f"{f.statement_text()} on {f.line} writes {name} in place, but {name} was expanded{made_on(f, name)}: several of its elements "
        "are one and the same place in memory; clone() it first.",
        f"{name}: shape {tuple(tensor.shape)}, strides {tensor.stride()}" if is_tensor(tensor) else None,
        fix=f"{name} = {name}.clone()",
    )


def inference(f: Failure) -> Answer:
    made = next(
        (n for n in f.source.owner if isinstance(n, ast.With) and any("inference_mode" in f.text(i.context_expr) for i in n.items)), None
    )
    inside = sorted(
        {n.id for s in (made.body if made else ()) for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    )
    name = ", ".join(inside) or "a tensor"
    return answer(
        "inference tensor",
        f"{name} was made under torch.inference_mode() ({f.where(made)}), and such a tensor "
        f"can never take part in a graph: {f.statement_text()} on {f.line} needs one that can; "
        f"use torch.no_grad() instead of inference_mode(), or {name}.clone() outside it.",
        f"{name}.is_inference() is True",
        fix=f"make {name} under torch.no_grad(), or use {name}.clone()",
    )
