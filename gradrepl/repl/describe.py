"""`obj?`: what it is, its signature, one sentence on what it means, the formulas of its derivative, and a short example that runs."""

import ast
import inspect
import io
import re
from contextlib import redirect_stdout
from typing import Any

from gradrepl.repl.facts import about, is_node, is_tensor, node_name, place, short
from gradrepl.repl.lookup import signature_text
from gradrepl.repl.namespace import Preloaded

LONGEST = 40


def describe(expression: str, shell, source: bool = False) -> None:
    """Print the description of what an expression gives; with `source` the source text too."""
    tree = ast.parse(expression, mode="eval")
    shell.preloaded(tree)
    value = eval(compile(tree, "<gradrepl-question>", "eval"), shell.namespace)
    print("\n".join(lines_about(expression, value)))
    if source:
        print(source_of(value))


def lines_about(expression: str, value: Any) -> list[str]:
    if is_tensor(value) and not isinstance(value, type):
        return about_tensor(expression, value)
    if is_node(value) and not isinstance(value, type):
        return about_node(expression, value)
    if callable(value):
        return about_callable(expression, value)
    return [f"{expression}: {type(value).__module__}.{type(value).__qualname__}", *sentence(value)]


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
    """The derivative of each input, in the very words that run."""
    table = getattr(kind, "formulas", None)
    if not isinstance(table, dict) or not table:
        return []
    return ["derivative", *(f"    {kind.__name__}  {name}: {text}" for name, text in table.items() if isinstance(text, str))]


def about_callable(expression: str, value: Any) -> list[str]:
    name = expression.rpartition(".")[2]
    lines = [f"{expression}{signature_text(value)}", *sentence(value, name)]
    lines += declared_formulas(value)
    return [*lines, *example(expression, value, name)]


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
    return hasattr(value, "declaration") or str(getattr(value, "__module__", None) or "").startswith(("torch", "gradrepl.engine"))


def declared_formulas(value: Any) -> list[str]:
    declaration = getattr(value, "declaration", None)
    if declaration is None or not declaration.formulas:
        return []
    return ["derivative", *(f"    {declaration.node_name}  {name}: {text}" for name, text in declaration.formulas.items())]


def example(expression: str, value: Any, name: str) -> list[str]:
    """An example with what it prints, run here and now, so that it is right; none where no simple call works."""
    from gradrepl.repl.meanings import examples

    if not is_torch(value):
        return []
    for lines in examples(expression, value, name):
        shown = ran(lines)
        if shown is not None:
            return ["example", *(f"    {line}" for line in shown)]
    return []


def ran(lines: list[str]) -> list[str] | None:
    """The lines as typed at the prompt, and what each shows; None where one fails. Runs apart: no name and no random number is used up."""
    import torch

    namespace: dict[str, Any] = {}
    Preloaded(namespace)(ast.parse("\n".join(lines)))
    state, shown = torch.get_rng_state() if hasattr(torch, "get_rng_state") else None, []
    try:
        for line in lines:
            text = output_of(line, namespace)
            shown += [f">>> {line}", *text.splitlines()]
    except Exception:  # this call does not fit the function; the next one may
        return None
    finally:
        if state is not None:
            torch.set_rng_state(state)
    return shown


def output_of(line: str, namespace: dict[str, Any]) -> str:
    try:
        code = compile(line, "<example>", "eval")
    except SyntaxError:
        exec(compile(line, "<example>", "exec"), namespace)
        return ""
    with redirect_stdout(io.StringIO()) as printed:
        value = eval(code, namespace)
    return printed.getvalue() + (repr(value) if value is not None else "")


def source_of(value: Any) -> str:
    try:
        return inspect.getsource(value)
    except (TypeError, OSError):
        return "    (no source text)"
