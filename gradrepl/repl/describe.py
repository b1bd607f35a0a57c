"""`obj?`: what it is, its signature, one sentence on what it means, the formulas of its derivative, and a short example that runs."""

import ast
import inspect
import re
from typing import Any

from gradrepl.repl.facts import about, formulas_of, is_node, is_tensor, node_name, place, short
from gradrepl.repl.lookup import is_instance, is_op, lookup, signature_texts
from gradrepl.repl.namespace import Preloaded

MOST_OPS = 4


def describe(expression: str, shell, source: bool = False) -> None:
    """Print the description of what an expression gives; with `source` the source text too."""
    tree = ast.parse(expression, mode="eval")
    shell.preloaded(tree)
    value = eval(compile(tree, "<gradrepl-question>", "eval"), shell.namespace)
    owner = lookup(expression.rpartition(".")[0], shell.namespace)
    print("\n".join(lines_about(expression, value, is_instance(owner))))
    if source:
        print(source_of(value))


def lines_about(expression: str, value: Any, bound: bool = False) -> list[str]:
    if is_tensor(value) and not isinstance(value, type):
        return about_tensor(expression, value)
    if is_node(value) and not isinstance(value, type):
        return about_node(expression, value)
    if callable(value):
        return about_callable(expression, value, bound)
    module, name = type(value).__module__, type(value).__qualname__
    return [f"{expression}: {name if module == 'builtins' else f'{module}.{name}'}", *sentence(value)]


def about_tensor(expression: str, value: Any) -> list[str]:
    lines = [f"{expression}: {type(value).__name__}  {about(value)}", f"    {where(value)}"]
    if value.grad_fn is not None:
        lines.append(f"    graph: {short(value)}; tree({expression}) draws it, explain({expression}) writes it out")
    return [*lines, *formulas(type(value.grad_fn))]


def where(value: Any) -> str:
    """Storage facts: its version, whether it is a view, its gradient."""
    parts = [f"version {value._version}"]
    if value._is_view():
        parts.append(f"a view of a tensor of shape {tuple(value._base.shape)}")
    parts.append(place(value))
    return ", ".join(parts)


def about_node(expression: str, node: Any) -> list[str]:
    inputs = [node_name(below) if below is not None else "constant" for below, _ in node.next_functions]
    lines = [f"{expression}: {node_name(node)}, a node of the graph", f"    gradients go on to: {', '.join(inputs) or 'nothing'}"]
    return [*lines, *saved_names(node), *formulas(type(node))]


def saved_names(node: Any) -> list[str]:
    names = [name for name in dir(type(node)) if name.startswith("_saved_")]
    return [f"    saved: {', '.join(names)}"] if names else []


def formulas(kind: type) -> list[str]:
    """The derivative of each input, in the very words that run in the embedded engine."""
    table = formulas_of(kind)
    return ["derivative", *(f"    {kind.__name__}  {name}: {text}" for name, text in table.items())] if table else []


def about_callable(expression: str, value: Any, bound: bool = False) -> list[str]:
    name = expression.rpartition(".")[2]
    shown, result = example(expression, value, name)
    ways = [f"{expression}{text}" for text in signature_texts(value, name, bound)]
    return [*ways, *sentence(value, name), *derivatives(result), *shown]


def derivatives(result: Any) -> list[str]:
    """The formulas of the few ops that made a result."""
    tensor = next((item for item in (result if isinstance(result, tuple) else [result]) if is_tensor(item)), None)
    found: dict[type, None] = {}
    todo = [tensor.grad_fn] if tensor is not None else []
    while todo and len(found) < MOST_OPS:
        node = todo.pop()
        if node is not None and formulas(type(node)):
            found[type(node)] = None
            todo += [below for below, _ in node.next_functions]
    lines = [line for kind in found for line in formulas(kind)[1:]]
    return ["derivative", *lines] if lines else []


def sentence(value: Any, name: str = "") -> list[str]:
    """The meaning: of an op from the table, of anything else the first sentence of its docstring."""
    from gradrepl.repl.meanings import meaning

    text = meaning(name) if is_torch(value) else ""
    if not text:
        doc = inspect.getdoc(value) or ""
        paragraphs = [part for part in doc.split("\n\n") if part.strip() and "->" not in part.partition("\n")[0]]
        text = " ".join(paragraphs[0].split()) if paragraphs else ""
        text = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
    return [f"    {text}"] if text else []


def is_torch(value: Any) -> bool:
    """Whether it belongs to the engine's public modules."""
    return str(getattr(value, "__module__", None)).partition(".")[0] == "torch" or callable(value) and is_op(value)


def example(expression: str, value: Any, name: str) -> tuple[list[str], Any]:
    """An example with what it prints, run here and now, so that it is right, and its value; nothing where no simple call works."""
    from gradrepl.repl.meanings import examples

    if is_torch(value):
        for lines in examples(expression, value, name):
            shown, result = ran(lines)
            if shown:
                return ["example", *(f"    {line}" for line in shown)], result
    return [], None


def ran(lines: list[str]) -> tuple[list[str], Any]:
    """The lines as typed at the prompt with what each shows, and the last value; nothing where one fails.

    They run apart: no name of the session and no random number is used up.
    """
    import torch

    namespace: dict[str, Any] = {}
    Preloaded(namespace)(ast.parse("\n".join(lines)))
    state, shown, value = torch.get_rng_state(), [], None
    try:
        for line in lines:
            value = value_of(line, namespace)
            shown += [f">>> {line}", *(repr(value).splitlines() if value is not None else [])]
    except Exception:  # this call does not fit the function; the next one may
        return [], None
    finally:
        torch.set_rng_state(state)
    return shown, value


def value_of(line: str, namespace: dict[str, Any]) -> Any:
    statement = ast.parse(line).body[0]
    if isinstance(statement, ast.Expr):
        return eval(line, namespace)
    return exec(line, namespace)


def source_of(value: Any) -> str:
    try:
        return inspect.getsource(value)
    except (TypeError, OSError):
        return "    (no source text)"
