"""Custom Functions gone wrong: what the error means in this program. Imports failure, answer."""

from __future__ import annotations

import ast
import re

from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.failure import Failure
from gradrepl.insight.observer import seen


def custom_class(f: Failure) -> tuple[str, ast.ClassDef | None]:
    name = (re.search(r"[Ff]unction (\w+?)Backward", f.message) or [None, ""])[1]
    classes = f.source.classes
    if name not in classes:
        made = [
            c
            for c in classes
            if any(isinstance(n, ast.FunctionDef) and n.name == "forward" for n in classes[c].body) and "Function" in f.text(classes[c])
        ]
        name = name or (made[0] if made else "the Function")
    return name, classes.get(name)


def method_of(body: ast.ClassDef | None, name: str) -> ast.FunctionDef | None:
    return next((n for n in body.body if isinstance(n, ast.FunctionDef) and n.name == name), None) if body else None


def gradients_returned(f: Failure) -> Answer:
    found = re.search(r"expected (\d+), got (\d+)", f.message)
    wanted, got = (int(found[1]), int(found[2])) if found else (0, 0)
    name, body = custom_class(f)
    forward, backward = method_of(body, "forward"), method_of(body, "backward")
    with_context = body is not None and method_of(body, "setup_context") is None
    inputs = [a.arg for a in forward.args.args][1 if with_context else 0 :] if forward else []
    returned = next((n for n in ast.walk(backward) if isinstance(n, ast.Return)), None) if backward else None
    text = f.text(returned.value) if returned is not None and returned.value is not None else "grad"
    right = text + ", None" * max(0, wanted - got)
    listed = f", {' and '.join(inputs)}," if inputs else ""
    where = f.where(returned if returned is not None else backward) if backward else f.line
    return answer(
        "number of gradients",
        f"{name}.forward() takes {wanted} input{'s' * (wanted != 1)}{listed} but {name}.backward() ({where}) returns {got} "
        f"gradient{'s' * (got != 1)}: return one value for each forward input, None for those that need none, as in return {right}.",
        f"{where}: {f.text(returned)}" if returned is not None else None,
        fix=f"return {right}",
    )


def gradient_shape(f: Failure) -> Answer:
    found = re.search(r"at index (\d+) - got (\[.*?\]) but expected shape compatible with (\[.*?\])", f.message)
    index, got, wanted = (found[1], found[2], found[3]) if found else ("?", "?", "?")
    name, body = custom_class(f)
    backward = method_of(body, "backward")
    returned = next((n for n in ast.walk(backward) if isinstance(n, ast.Return)), None) if backward else None
    where = f.where(returned) if returned is not None else f.line
    return answer(
        "shape of a gradient",
        f"{name}.backward() ({where}) returns, for input {index} of forward, a gradient of shape {got}, but that input has shape "
        f"{wanted}: each gradient must have the shape of its input.",
        f"{where}: {f.text(returned)}" if returned is not None else None,
        fix="sum the gradient down to the shape of the input, or transpose what was transposed in forward",
    )


def gradients_given(f: Failure) -> Answer:
    """backward() of a Function with several outputs takes one gradient for each."""
    found = re.search(r"(\w+)\.backward\(\) takes (?:from )?(\d+)(?: to \d+)? positional arguments? but (\d+) were given", f.message)
    name, takes, given = (found[1], int(found[2]) - 1, int(found[3]) - 1) if found else ("the Function", 0, 0)
    backward = method_of(f.source.classes.get(name), "backward")
    return answer(
        "gradients given",
        f"{name}.forward() returns {given} outputs, so {name}.backward() ({f.where(backward)}) is given {given} gradients after ctx, one "
        f"for each output, but it takes {takes}.",
        f"{f.where(backward)}: def backward({', '.join(a.arg for a in backward.args.args)})" if backward is not None else None,
        f"backward ran on {f.line}",
        fix=f"def backward(ctx, {', '.join(f'grad{i + 1}' for i in range(given))})",
    )


def not_saved(f: Failure) -> Answer:
    found = re.search(r"argument (\d+) is of type (\w+)", f.message)
    index, kind = (int(found[1]), found[2]) if found else (0, "another type")
    node = f.parsed
    given = ast.unparse(node.args[index]) if isinstance(node, ast.Call) and index < len(node.args) else "it"
    return answer(
        "save_for_backward",
        f"{f.said} on {f.line} tries to save {given}, a {kind}, but save_for_backward() is for tensors only: "
        "keep anything else as an attribute of ctx.",
        f"argument {index} of save_for_backward() is {given}, of type {kind}",
        fix=f"ctx.{given if given.isidentifier() else 'value'} = {given}",
    )


def view_in_function(f: Failure) -> Answer:
    maker = re.search(r"Output \d+ of (\w+?)(Backward)? is a view", f.message)
    name = maker[1] if maker else "a custom Function"
    return answer(
        "view from a Function",
        f"{f.statement_text()} on {f.line} changes in place what {name}.apply() returned, and that is a view of its input: autograd would "
        f"have to replace the backward of {name} by its own, so it refuses; return a copy from forward, or compute out of place.",
        f"in-place write on {f.line}; the view was made inside {name}.forward()",
        fix="return x.view(…).clone() from forward, or write y = y + … instead of y += …",
    )


def backward_missing(f: Failure) -> Answer:
    name, body = custom_class(f)
    return answer(
        "no backward",
        f"{name} has no backward(): a custom Function needs one (a static method that takes ctx and a gradient for each output) before "
        f"it can be differentiated ({f.line}).",
        f"class {name} on {f.where(body)}" if body is not None else None,
        fix=f"add @staticmethod def backward(ctx, grad): … to {name}",
    )


def once(f: Failure) -> Answer:
    name, body = custom_class(f)
    return answer(
        "once_differentiable",
        f"{f.said} on {f.line} differentiates {name} twice, but its backward is marked @once_differentiable: its own steps are not "
        "recorded, so there is no second derivative.",
        fix="leave out @once_differentiable and write backward with torch operations only",
    )


def legacy(f: Failure) -> Answer:
    name, body = custom_class(f)
    return answer(
        "instance of a Function",
        f"{f.said} on {f.line} makes an instance of {name}: a Function is used through its class, {name}.apply(…), with static methods.",
        fix=f"{name}.apply(…)",
    )


def anomaly(f: Failure) -> Answer:
    found = re.search(r"Function '(\w+)' returned nan values in its (\d+)th output", f.message)
    name = found[1] if found else "a node"
    graph = f.graph(f.subject)
    kept = next((seen(n) for n in graph.functions.values() if hasattr(n, "name") and n.name().endswith(name)), None) if graph else None
    place = kept.where if kept else None
    return answer(
        "nan in backward",
        f"{name}, recorded by {place.text if place else 'an op'}{f' ({f.where(place)})' if place else ''}, gave the first nan of "
        "backward: its derivative does not exist at the values it was given (a division by 0, 0 * inf, a root or logarithm of 0).",
        f"anomaly detection stopped backward() on {f.line}",
        fix="keep the input of that op away from the point where its derivative is infinite",
    )
