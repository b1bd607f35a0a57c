"""Runs source text, statement by statement, for every kind of input: typed, pasted, piped, a file. Imports the standard library only."""

import ast
import linecache
import sys
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any

# `from __future__ import …` holds for the inputs that follow, as at Python's own prompt
FUTURE_FLAGS = 0x1FE0000


class Evaluator:
    """Runs inputs in one namespace. Errors go to the caller, SyntaxError before anything has run.

    `provide(tree)` is called with the parsed input before it runs: it puts names into the namespace that the input is about to use.
    `keep(value)` gets the value of a last expression in place of `sys.displayhook`, which stays the program's own.
    """

    def __init__(self, namespace: dict[str, Any], provide: Callable[[ast.AST], None], keep: Callable[[Any], None] | None = None):
        self.namespace, self.provide, self.keep = namespace, provide, keep
        self.number = 0
        self.flags = 0

    def run(self, source: str, filename: str | None = None) -> None:
        """Run the text; the value of a last expression goes to `sys.displayhook`, or to `keep`."""
        value = None
        for code in self.compiled(source, filename or self.next_filename(source)):
            value = eval(code, self.namespace)
        if self.keep:
            self.keep(value)

    def next_filename(self, source: str) -> str:
        """Name the input `<gradrepl-N>` and let tracebacks, `inspect` and warnings find its lines."""
        self.number += 1
        filename = f"<gradrepl-{self.number}>"
        # every line ends in a newline, as linecache itself gives them: the carets of a traceback are placed by that
        linecache.cache[filename] = (len(source), None, [f"{line}\n" for line in source.split("\n")], filename)
        return filename

    def compiled(self, source: str, filename: str) -> list[CodeType]:
        """Parse and compile the whole text before any of it runs."""
        tree = compile(source, filename, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        codes = [self.statement(node, filename, last=node is tree.body[-1]) for node in tree.body]
        if len(codes) > 1 and (text := ast.get_docstring(tree, clean=False)) is not None:
            self.namespace["__doc__"] = text
        self.provide(tree)
        return codes

    def statement(self, node: ast.stmt, filename: str, last: bool) -> CodeType:
        """One statement, ready to run. A last expression is compiled as "single", which sends its value to the display hook."""
        if last and isinstance(node, ast.Expr) and self.keep:
            code = compile(ast.Expression(node.value), filename, "eval", self.flags, dont_inherit=True)
        elif last and isinstance(node, ast.Expr):
            code = compile(ast.Interactive([node]), filename, "single", self.flags, dont_inherit=True)
        else:
            # a lone string, compiled as a module, would become the docstring
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            code = compile(ast.Module([] if is_text else [node], []), filename, "exec", self.flags, dont_inherit=True)
        self.flags |= code.co_flags & FUTURE_FLAGS
        return code


def user_traceback(traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in the user's own code: everything below the evaluator."""
    below = ("gradrepl.repl", "gradrepl.cli", "runpy", "timeit")
    while traceback is not None and traceback.tb_frame.f_globals.get("__name__", "").startswith(below):
        traceback = traceback.tb_next
    return traceback


def remember_last_error(error: BaseException | None) -> None:
    """Set `sys.last_exc` and its three older names, as Python's prompt does; None drops them, and with them the tensors in their frames."""
    if error is None:
        for name in ("last_exc", "last_type", "last_value", "last_traceback"):
            vars(sys).pop(name, None)
        return
    sys.last_exc = sys.last_value = error  # type: ignore[attr-defined]
    sys.last_type, sys.last_traceback = type(error), error.__traceback__
