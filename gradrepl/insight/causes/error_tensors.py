"""Tensors that may not do what was asked, shapes and dtypes: what the error means in this program. Imports failure, answer."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradrepl.graphs.protocol import is_tensor
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.failure import Failure, target_tensor
from gradrepl.insight.causes.question import Question
from gradrepl.insight.places import Place


def integer_leaf(f: Failure) -> Answer:
    node = f.parsed
    data = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else f.receiver
    name = f.receiver
    floats = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", data)
    tensor = f.value_of(name)
    dtype = tensor.dtype if is_tensor(tensor) else "torch.int64"
    what = f"{name} ({f.where(f.definition_of(name))})" if is_tensor(tensor) else f"{called_text(node) or 'the tensor'} on {f.line}"
    return answer(
        "integers",
        f"{what} is a tensor of integers ({dtype}), and only floating-point or complex tensors can require grad: write "
        f"{floats if not is_tensor(tensor) else name + '.float()'} or dtype=torch.float32.",
        f"{f.line}: the data {data} give dtype {dtype}",
        fix=f"{f.said.replace(data, floats, 1)}" if not is_tensor(tensor) else f"{name} = {name}.float(), then requires_grad_()",
    )


def called_text(node: Any) -> str:
    if not isinstance(node, ast.Call):
        return ""
    arguments = ", ".join(ast.unparse(a) for a in node.args)
    return f"{ast.unparse(node.func)}({arguments})"


def to_numpy(f: Failure) -> Answer:
    node = f.parsed
    candidates = [n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))] if node is not None else []
    name = next(
        (ast.unparse(n) for n in candidates if is_tensor(t := f.value_of(ast.unparse(n))) and t.requires_grad), f.receiver or "the tensor"
    )
    tensor = f.value_of(name)
    why = "it has a grad_fn" if is_tensor(tensor) and tensor.grad_fn is not None else "it requires grad"
    return answer(
        "numpy of a tensor that requires grad",
        f"{f.said} on {f.line} hands {name} to NumPy, but {name} is part of a graph ({why}), and NumPy records nothing, so the gradient "
        f"would be lost unnoticed: take {name}.detach().numpy() if only the values are wanted.",
        f"{name}.requires_grad is True"
        + (f", grad_fn {tensor.grad_fn.name()}" if is_tensor(tensor) and tensor.grad_fn is not None else ""),
        fix=f"{name}.detach().numpy()",
    )


def deep_copy(f: Failure) -> Answer:
    node = f.parsed
    name = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else f.receiver
    tensor = f.value_of(name)
    if is_tensor(tensor):
        place = f.made_at(tensor) or f.definition_of(name)
        by = (
            f"computed by {place.text if isinstance(place, Place) else f.text(place) if place is not None else tensor.grad_fn.name()} "
            f"({f.where(place)})"
        )
        held = name
    else:
        held, by = f"a tensor inside {name}", "computed, not made by you"
    return answer(
        "deepcopy of a non-leaf",
        f"{held} is not a leaf: it was {by} and has a grad_fn, and deepcopy() on {f.line} cannot copy a piece of a graph, so copy the "
        f"values with {name}.detach().clone().",
        f"{name}.is_leaf is False, {name}.grad_fn is {tensor.grad_fn.name()}" if is_tensor(tensor) else None,
        fix=f"{f.statement_text().replace(f.said, f'{name}.detach().clone()')}",
    )


def change_flag(f: Failure) -> Answer:
    name, tensor = target_tensor(f)
    name = name.removesuffix(".requires_grad")
    tensor = f.value_of(name)
    by = (
        f", the result of {tensor.grad_fn.name()} ({f.where(f.made_at(tensor) or f.definition_of(name))})"
        if is_tensor(tensor) and tensor.grad_fn is not None
        else ""
    )
    return answer(
        "requires_grad of a non-leaf",
        f"{name} is not a leaf{by}, and requires_grad can be changed only for leaves ({f.line}): "
        f"to use its values without history take {name}.detach().",
        f"{name}.is_leaf is False",
        fix=f"{name} = {name}.detach()",
    )


def no_grad_yet(f: Failure) -> Answer | None:
    """`w.grad.zero_()` or `lr * w.grad` while w.grad is None."""
    statement = f.place.statement if f.place else None
    node = statement if isinstance(statement, ast.stmt) else f.parsed
    grads = [n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == "grad"] if node is not None else []
    for attribute in grads:
        name = ast.unparse(attribute.value)
        tensor = f.value_of(name)
        if is_tensor(tensor) and (tensor.grad if tensor.is_leaf else None) is None:
            return grad_is_none(f, name, tensor)
    return None


def grad_is_none(f: Failure, name: str, tensor: Any) -> Answer:
    from gradrepl.insight.causes.missing import RULES as MISSING

    q = Question(tensor, f.frame)
    inner = next(filter(None, (rule(q) for rule in MISSING)))
    return answer(
        inner.cause,
        f"{name}.grad is None on {f.line}, and None has no arithmetic. " + inner.sentence,
        *inner.evidence,
        fix=inner.fix,
    )


def hook_without_graph(f: Failure) -> Answer:
    name = f.receiver or "the tensor"
    what = "retain_grad()" if "retain_grad" in f.message else "register_hook()"
    return answer(
        "requires_grad is False",
        f"{name} does not require grad, so no gradient will ever come by, and {what} on {f.line} has nothing to wait for: make its "
        "inputs with requires_grad=True first.",
        f"{name}.requires_grad is False",
        fix=f"{name}.requires_grad_() before {what}",
    )


def non_leaf_optimised(f: Failure) -> Answer:
    node = f.parsed
    names = [ast.unparse(n) for n in ast.walk(node) if isinstance(n, ast.Name)] if node is not None else []
    name = next((n for n in names if is_tensor(t := f.value_of(n)) and not t.is_leaf), "a parameter")
    tensor = f.value_of(name)
    place = f.made_at(tensor) if is_tensor(tensor) else None
    return answer(
        "non-leaf in an optimizer",
        f"{name} is not a leaf: it was computed{f' by {place.text} ({f.where(place)})' if place else ''}, and an optimizer can change "
        f"leaves only; make it a leaf with {name}.detach().requires_grad_().",
        f"{name}.is_leaf is False"
        + (f", {name}.grad_fn is {tensor.grad_fn.name()}" if is_tensor(tensor) and tensor.grad_fn is not None else ""),
        fix=f"{name} = {name}.detach().requires_grad_()",
    )


def not_a_parameter(f: Failure) -> Answer:
    statement = f.place.statement if f.place else None
    target = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else f.receiver
    value = ast.unparse(statement.value) if isinstance(statement, ast.Assign) else "a tensor"
    return answer(
        "not a Parameter",
        f"{target} = {value} on {f.line} puts a plain tensor where the module has an nn.Parameter: only a Parameter, a leaf that the "
        "optimizer knows, can stand there.",
        f"{f.line}: {f.statement_text()}",
        fix=f"with torch.no_grad(): {target}.copy_({value}), or {target} = nn.Parameter({value})",
    )


def assigned_gradient(f: Failure) -> Answer:
    return answer(
        "gradient of another kind",
        f"{f.statement_text()} on {f.line} gives .grad a tensor of another shape or dtype than the tensor it belongs to: {f.reason}.",
        fix="make the gradient with torch.zeros_like(tensor)",
    )


def detach_view(f: Failure) -> Answer:
    name = f.receiver or "the tensor"
    return answer(
        "detach_ of a view",
        f"{name} is a view, and detach_() on {f.line} would have to cut its base as well: use the out-of-place {name}.detach().",
        f"{name}._is_view() is True",
        fix=f"{name} = {name}.detach()",
    )


def shapes(f: Failure) -> Answer:
    listed = ", ".join(f"{n} {tuple(t.shape)}" for n, t in f.tensors)
    return answer(
        "shapes",
        f"{f.said} on {f.line} cannot be computed: {f.reason}{f' ({listed})' if listed else ''}.",
        *(f"{n}: shape {tuple(t.shape)}" for n, t in f.tensors),
        fix="bring the shapes together with unsqueeze, reshape or .T; sizes match if they are equal or one of them is 1",
    )


def dtypes(f: Failure) -> Answer:
    return answer(
        "dtypes",
        f"{f.said} on {f.line} mixes dtypes: {f.reason}.",
        *(f"{n}: dtype {t.dtype}" for n, t in f.tensors),
        fix="convert one side: x.float(), x.to(w.dtype)",
    )


def not_viewable(f: Failure) -> Answer:
    name, tensor = f.receiver or "the tensor", f.subject
    strides = f"{name}: shape {tuple(tensor.shape)}, strides {tensor.stride()}" if is_tensor(tensor) else f"{f.line}: {f.statement_text()}"
    return answer(
        "not contiguous",
        f"{f.said} on {f.line} cannot be a view: the elements of {name} do not lie one after the other in memory (it was transposed, "
        "permuted or sliced), and view() copies nothing; use reshape(), which copies where it must.",
        strides,
        fix=f.said.replace(".view(", ".reshape("),
    )


def not_castable(f: Failure) -> Answer:
    name, tensor = target_tensor(f)
    found = re.search(r"result type (\w+) can't be cast to the desired output type (\w+)", f.message)
    wide, narrow = (found[1], found[2]) if found else ("the result", "its dtype")
    return answer(
        "dtype of a write",
        f"{f.statement_text()} on {f.line} writes {wide} numbers into {name}, which is {narrow}: a write in place keeps the dtype of "
        f"{name}, and that cannot hold the result; compute it out of place.",
        f"{name}: dtype {tensor.dtype}" if is_tensor(tensor) else None,
        fix=f"{name} = {name}.float() first, or a new tensor instead of the write",
    )


def changed_by_hook(f: Failure) -> Answer:
    event = f.last_hook
    name = (re.search(r"hook '(.*?)'", f.message) or [None, "the hook"])[1]
    what = "of another shape" if "size" in f.message else "of another dtype" if "has changed the type" in f.message else "that is no tensor"
    set_on = f" (set on {f.where(event.where)})" if event else ""
    return answer(
        "result of a hook",
        f"A hook, {name}{set_on}, returned something {what}: what a hook returns replaces the gradient, so it must be a tensor of the "
        f"same shape and dtype, or None ({f.line}).",
        event and f"{f.where(event.where)}: {event.where.text}",
        fix="return a tensor like the gradient, or None to leave it as it is",
    )


def no_parameters(f: Failure) -> Answer:
    return answer(
        "no parameters",
        f"{f.said} on {f.line} gets no parameters: parameters() finds nn.Parameter attributes and submodules only, not plain tensors, and "
        "not modules in a Python list; wrap them in nn.Parameter, nn.ModuleList or nn.ParameterList.",
        f"{f.line}: {f.said}",
        fix="self.w = nn.Parameter(torch.randn(…)), self.layers = nn.ModuleList([…])",
    )


def not_an_index(f: Failure) -> Answer:
    floats = [(n, t) for n, t in f.tensors if t.is_floating_point()]
    name = floats[-1][0] if floats else ""
    return answer(
        "dtype of an index",
        f"{f.said} on {f.line} takes {name or 'a tensor'} as indices, but its dtype is floating point: indices are integers (int64) or "
        "booleans, and no gradient flows to them.",
        *(f"{n}: dtype {t.dtype}" for n, t in floats[:3]),
        fix=f"{name or 'index'}.long()",
    )


def out_of_range(f: Failure) -> Answer:
    return answer(
        "index out of range",
        f"{f.said} on {f.line} uses an index that does not exist: {f.reason}; indices (and class targets) go from 0 to size - 1.",
        f"{f.line}: {f.statement_text()}",
        fix="look at the largest index, and at the size of what is indexed (num_embeddings, number of classes)",
    )


def plain_number(f: Failure) -> Answer | None:
    """`loss.backward()` where loss is a float, an array or None."""
    kind = (re.search(r"'([\w.]+)' object has no attribute 'backward'", f.message) or [None, "other"])[1]
    name = f.receiver or "the result"
    definition = f.definition_of(name)
    made = f", for {f.text(definition)} ({f.where(definition)}) made it one" if definition is not None else ""
    return answer(
        "not a tensor",
        f"{name} is a plain {kind} and not a tensor{made}, so it has no graph and no backward() ({f.line}): leave out item(), float(), "
        "numpy() or detach() on the way, so that it stays a tensor.",
        f"type({name}) is {kind}",
        fix=f"compute {name} with torch functions, and call item() only to print it",
    )


def not_a_probability(f: Failure) -> Answer:
    return answer(
        "not a probability",
        f"{f.said} on {f.line} needs probabilities between 0 and 1, but gets other numbers (or nan): apply sigmoid first, or use "
        f"binary_cross_entropy_with_logits, which takes any number and is stable.",
        f"{f.line}: {f.statement_text()}",
        fix="F.binary_cross_entropy_with_logits(logits, target)",
    )


def truth(f: Failure) -> Answer:
    return answer(
        "truth of a tensor",
        f"{f.said} on {f.line} asks whether a tensor of several elements is true: "
        "if, and, or need one answer; use .any() or .all(), & and |, or torch.where.",
        fix="torch.where(condition, a, b), or condition.any()",
    )


def to_number(f: Failure) -> Answer:
    name, tensor = f.receiver, f.subject
    shape = f" (shape {tuple(tensor.shape)})" if is_tensor(tensor) else ""
    return answer(
        "not one number",
        f"{name or f.said}{shape} on {f.line} has more than one element, "
        "so it cannot become one Python number: reduce it first, or use tolist().",
        fix=f"{name or 'x'}.sum().item(), or {name or 'x'}.tolist()",
    )
