"""Runs source text, statement by statement, for every kind of input: typed, pasted, piped, a file. Imports the standard library only."""

import ast
import linecache
import sys
from types import CodeType
from typing import Any, NamedTuple, Protocol

# `from __future__ import …` holds for the inputs that follow, as at Python's own prompt
FUTURE_FLAGS = 0x1FE0000


class Statement(NamedTuple):
    """One top-level statement, ready to run. `shown`: an expression whose value goes to the display hook."""

    node: ast.stmt
    code: CodeType
    filename: str
    shown: bool


class Observer(Protocol):
    """What the evaluator tells, around each top-level statement; a statement that raises is told with its error."""

    def before(self, statement: Statement, namespace: dict[str, Any]) -> None: ...

    def after(self, statement: Statement, namespace: dict[str, Any], error: BaseException | None) -> None: ...


class Evaluator:
    """Runs inputs in one namespace. Errors go to the caller, SyntaxError before anything has run.

    `provide(tree)` is called with the parsed input before it runs: it puts names into the namespace that the input is about to use.
    """

    def __init__(self, namespace: dict[str, Any], provide=None):
        self.namespace, self.provide = namespace, provide
        self.number = 0
        self.flags = 0
        self.observers: list[Observer] = []

    def next_filename(self, source: str) -> str:
        """Name the input `<gradrepl-N>` and let tracebacks, `inspect` and warnings find its lines."""
        self.number += 1
        filename = f"<gradrepl-{self.number}>"
        # every line ends in a newline, as linecache itself gives them: the carets of a traceback are placed by that
        linecache.cache[filename] = (len(source), None, [f"{line}\n" for line in source.split("\n")], filename)
        return filename

    def run(self, source: str, filename: str | None = None) -> None:
        """Run the text; the value of a last expression goes to `sys.displayhook`."""
        for statement in self.compiled(source, filename or self.next_filename(source)):
            self.execute(statement)

    def execute(self, statement: Statement) -> None:
        for observer in self.observers:
            observer.before(statement, self.namespace)
        error = None
        try:
            exec(statement.code, self.namespace)
        except BaseException as raised:
            error = raised
            raise
        finally:
            for observer in self.observers:
                observer.after(statement, self.namespace, error)
            del error  # with its traceback it would hold this frame, which holds it

    def compiled(self, source: str, filename: str) -> list[Statement]:
        """Parse and compile the whole text before any of it runs."""
        tree = compile(source, filename, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        statements = [self.statement(node, filename, shown=node is tree.body[-1] and isinstance(node, ast.Expr)) for node in tree.body]
        if tree.body and isinstance(tree.body[0], ast.Expr) and ast.get_docstring(tree, clean=False) is not None and len(tree.body) > 1:
            self.namespace["__doc__"] = ast.get_docstring(tree, clean=False)
        if self.provide:
            self.provide(tree)
        return statements

    def statement(self, node: ast.stmt, filename: str, shown: bool) -> Statement:
        # "single" sends a value to the display hook; a lone string compiled as a module would become its docstring
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        tree: ast.Module | ast.Interactive
        if shown:
            tree = ast.Interactive([node])
        else:
            tree = ast.Module([] if is_text else [node], [])
        code = compile(tree, filename, "single" if shown else "exec", self.flags, dont_inherit=True)
        self.flags |= code.co_flags & FUTURE_FLAGS
        return Statement(node, code, filename, shown)


def user_traceback(traceback):
    """The part of a traceback that begins in the user's own code: everything below the evaluator."""
    while traceback is not None and traceback.tb_frame.f_globals.get("__name__", "").startswith(("gradrepl.repl", "gradrepl.cli", "runpy")):
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
