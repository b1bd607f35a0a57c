"""Turns the inputs of a session into a program that plain PyTorch runs. Imports the standard library only."""

import ast

from gradrepl.repl.namespace import PRELOADED, used_names
from gradrepl.repl.session import Entry, Session

IMPORTS = {"torch": "import torch", "nn": "from torch import nn", "F": "import torch.nn.functional as F", "np": "import numpy as np"}
QUESTIONS = (set(PRELOADED) - set(IMPORTS)) | {"watch", "unwatch"}


def as_script(session: Session) -> str:
    """The inputs that ran, in order: preloaded names imported, shown values printed, and what only looks at a graph as a comment."""
    entries = [entry for entry in session.entries if entry.good and entry.python]
    bodies = sorted(map(written, entries), key=lambda body: not body.startswith("from __future__"))
    futures = [body for body in bodies if body.startswith("from __future__")]
    bodies = bodies[len(futures) :]
    lines = [*futures, *imports("\n".join(bodies))]
    return "\n".join([*lines, *([""] if lines else []), *bodies]).strip("\n") + "\n"


def imports(source: str) -> list[str]:
    """An import for each preloaded name that the program reads and nowhere makes its own before."""
    reads, writes = used_names(ast.parse(source))
    missing = [name for name in PRELOADED if name in reads and not writes.get(name, reads[name] + 1) <= reads[name]]
    lines = [IMPORTS[name] for name in missing if name in IMPORTS]
    own = sorted(set(missing) & QUESTIONS)
    return lines + ([f"from gradrepl import {', '.join(own)}"] if own else [])


def written(entry: Entry) -> str:
    tree = ast.parse(entry.source)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return entry.source
    lines = entry.source.split("\n")
    if isinstance(last.value, ast.Call) and isinstance(last.value.func, ast.Name) and last.value.func.id in QUESTIONS:
        if last.col_offset == 0:
            return "\n".join([*lines[: last.lineno - 1], *(f"# {line}" for line in lines[last.lineno - 1 :])])
    return printed(entry.source, lines, last) if entry.shown else entry.source


def printed(source: str, lines: list[str], last: ast.Expr) -> str:
    """The source with its last expression inside a `print`."""
    expression = ast.get_source_segment(source, last) or ""
    start = sum(len(line) + 1 for line in lines[: last.lineno - 1]) + len(lines[last.lineno - 1].encode()[: last.col_offset].decode())
    shown = f"({expression})" if isinstance(last.value, ast.Tuple) and not expression.startswith("(") else expression
    return f"{source[:start]}print({shown}){source[start + len(expression) :]}"
