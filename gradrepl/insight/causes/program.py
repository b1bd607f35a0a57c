"""The source of a program, over all its files or inputs, in the order in which they ran. Imports places."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from typing import NamedTuple

from gradrepl.insight.places import Program, input_number, program

# one input of a shell is one file; all of them together are the program
INPUTS = re.compile(r"<(gradrepl|ipython-input|python-input)-\d+.*>$|.*ipykernel_\d+.\d+\.py$")


class Definition(NamedTuple):
    """A statement that gives a name its value, or changes part of it."""

    order: tuple[int, int]
    statement: ast.AST
    value: ast.expr
    partial: bool  # y[0] = …, y.mul_(…), y.append(…): what y was before still counts
    file: Program


def files_of(filename: str) -> list[Program]:
    if not INPUTS.match(filename):
        return [program(filename)]
    found = [name for name in linecache.cache if INPUTS.match(name)]
    return [program(name) for name in sorted(found, key=lambda name: input_number(name) or 0)]


class Source:
    """Definitions, calls and scopes of a program."""

    def __init__(self, filename: str):
        self.files = files_of(filename)
        self.definitions: dict[tuple[ast.AST | None, str], list[Definition]] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.owner: dict[ast.AST, Program] = {}
        for number, file in enumerate(self.files):
            self.read(number, file)

    def read(self, number: int, file: Program) -> None:
        for node in ast.walk(file.tree):
            self.owner[node] = file
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions[node.name] = node  # type: ignore[assignment]
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
        for statement in file.statements:
            for name, value, partial in bindings(statement):
                key = self.scope(statement), name
                order = number, statement.lineno
                self.definitions.setdefault(key, []).append(Definition(order, statement, value, partial, file))

    def order(self, node: ast.AST) -> tuple[int, int]:
        return self.files.index(self.owner[node]), node.lineno  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        return self.owner[node].text(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        parents = self.owner[node].parents
        while node in parents:
            node = parents[node]
            yield node

    def scope(self, node: ast.AST) -> ast.AST | None:
        """The function that a node stands in; None for the top of a file."""
        return next((a for a in self.ancestors(node) if isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))), None)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        return node if isinstance(node, ast.stmt) else next((a for a in self.ancestors(node) if isinstance(a, ast.stmt)), None)

    def reaching(self, name: str, use: ast.AST, scope: ast.AST | None) -> list[Definition]:
        """The definitions a use of a name may see: the last whole one before it, and the partial ones after that."""
        every = sorted(self.definitions.get((scope, name), []), key=lambda d: d.order)
        if not every and scope is not None:
            return self.reaching(name, self.files[-1].tree, None) if self.definitions.get((None, name)) else []
        own = self.statement(use) if not isinstance(use, ast.Module) else None
        limit = self.order(use) if own is not None else (len(self.files), 0)
        before = [d for d in every if d.order < limit and d.statement is not own]
        whole = [d for d in before if not d.partial]
        start = whole[-1:] or [d for d in every if not d.partial and d.statement is not own][-1:]
        return start + [d for d in before if d.partial and (not start or d.order > start[0].order)]

    def reaching_whole(self, name: str, use: ast.AST, scope: ast.AST | None) -> list[Definition]:
        return [d for d in self.definitions.get((scope, name), []) if not d.partial and d.order < self.order(use)]

    def calls(self, *methods: str) -> list[ast.Call]:
        """Calls of a method or function by its last name, in the order of the text."""
        found = [node for file in self.files for node in ast.walk(file.tree) if isinstance(node, ast.Call) and called(node) in methods]
        return sorted(found, key=self.order)


def called(call: ast.AST | None) -> str:
    """The last name of what is called: `sum` in `(a * b).sum()`."""
    function = call.func if isinstance(call, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def bindings(statement: ast.AST) -> Iterator[tuple[str, ast.expr, bool]]:
    """(name, the expression it gets, whether only part of it changes) for all names that a statement binds."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from targets(target, statement.value)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield from targets(statement.target, statement.value)
    elif isinstance(statement, ast.AugAssign):
        for name, value, _ in targets(statement.target, statement.value):
            yield name, value, True
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        yield from targets(statement.target, statement.iter)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if item.optional_vars is not None:
                yield from targets(item.optional_vars, item.context_expr)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute):
        yield from changes(statement.value, statement.value.func)


def changes(call: ast.Call, method: ast.Attribute) -> Iterator[tuple[str, ast.expr, bool]]:
    """`y.mul_(w)`, `rows.append(w)`, `torch.add(a, b, out=y)`: what y holds now depends on the arguments."""
    name = base_name(method.value)
    if name and (
        method.attr.endswith("_") and not method.attr.endswith("__") or method.attr in ("append", "extend", "insert", "add", "update")
    ):
        for argument in call.args or [call]:
            yield name, argument, True
    for keyword in call.keywords:
        if keyword.arg == "out" and isinstance(keyword.value, ast.Name):
            for argument in call.args:
                yield keyword.value.id, argument, True


def targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr, bool]]:
    if isinstance(target, ast.Name):
        yield target.id, value, False
    elif isinstance(target, (ast.Tuple, ast.List)):
        pairs = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for number, element in enumerate(target.elts):
            yield from targets(element.value if isinstance(element, ast.Starred) else element, value.elts[number] if pairs else value)  # type: ignore[attr-defined]
    elif isinstance(target, ast.Subscript) and (name := base_name(target)):
        yield name, value, True
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        yield f"{target.value.id}.{target.attr}", value, False


def base_name(node: ast.AST) -> str:
    """The variable that an expression like `y[0].T` is a part of."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
