"""Where in a program something happened: a code object and an instruction, read only when someone asks. Imports nothing of the project."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(__file__))
LIBRARY = os.path.dirname(os.__file__)
MOST_KEPT = 4000  # places whose text is kept
_foreign: dict[str, bool] = {}  # filename -> not the user's own code
generated: dict = {}  # the namespace of functions that an engine writes by itself; an observer puts it here


class Position(NamedTuple):
    """Line and column of an expression, as the compiler noted them."""

    line: int
    end_line: int
    column: int
    end_column: int


class Place(NamedTuple):
    """An instruction of a program; a tuple of two, since one is kept for every op that runs."""

    code: CodeType
    instruction: int

    @property
    def filename(self) -> str:
        return self.code.co_filename

    @property
    def position(self) -> Position:
        return _position(self.code, self.instruction)

    @property
    def line(self) -> int:
        return self.position.line

    @property
    def text(self) -> str:
        """The very expression that was running, on one line: `x * 3`."""
        return _text(self.code, self.instruction)

    @property
    def statement(self) -> ast.stmt | None:
        return statement_at(self.filename, self.line)

    @property
    def statement_text(self) -> str:
        """The whole statement, as it is written."""
        statement = self.statement
        return source_of(self.filename, statement) if statement is not None else self.text


def once_per_place(read: Callable[[CodeType, int], Any]) -> Callable[[CodeType, int], Any]:
    """Keep what is read of places, by the identity of their code: to hash it means to hash all its constants."""
    kept: dict[tuple[int, int], tuple[CodeType, Any]] = {}

    def known(code: CodeType, instruction: int) -> Any:
        found = kept.get((id(code), instruction))
        if found is None:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            found = kept[id(code), instruction] = code, read(code, instruction)
        return found[1]

    return known


@once_per_place
def _position(code: CodeType, instruction: int) -> Position:
    for number, found in enumerate(code.co_positions()):
        if number == instruction // 2:
            line, end_line, column, end_column = found
            line = line or code.co_firstlineno
            return Position(line, end_line or line, column or 0, end_column if end_column is not None else -1)
    return Position(code.co_firstlineno, code.co_firstlineno, 0, -1)


@once_per_place
def _text(code: CodeType, instruction: int) -> str:
    return segment(code.co_filename, _position(code, instruction))


def segment(filename: str, position: Position) -> str:
    """The source between two positions, on one line."""
    lines = [linecache.getline(filename, number).rstrip("\n") for number in range(position.line, position.end_line + 1)]
    if not lines:
        return ""
    # columns count bytes
    if position.end_column >= 0:
        lines[-1] = lines[-1].encode()[: position.end_column].decode(errors="ignore")
    lines[0] = lines[0].encode()[position.column :].decode(errors="ignore")
    return " ".join(line.strip() for line in lines)


def source_of(filename: str, node: ast.AST) -> str:
    """A node as it is written, on one line."""
    return segment(filename, Position(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset))  # type: ignore[attr-defined]


def spelled(filename: str, line: int) -> str:
    """A line as a person finds it: "line 4"; in a shell "input 3", and its line where it has several."""
    number = input_number(filename)
    if number is None:
        return f"line {line}"
    several = len(linecache.getlines(filename)) > 1
    return f"input {number}" + (f", line {line}" if several else "")


def input_number(filename: str) -> int | None:
    """Which input of a shell a file is: of this one, of IPython, of a notebook; None for a file."""
    if filename.startswith("<"):
        found = re.match(r"<(?:gradrepl|ipython-input|python-input)-(\d+)", filename)
        return int(found[1]) if found else None
    if "ipykernel" not in filename:
        return None
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(getattr(shell, "compile", None), "_filename_map", {}).get(filename)


def foreign(filename: str) -> bool:
    """Whether a file is not the user's: this package, PyTorch, the standard library, an installed package."""
    known = _foreign.get(filename)
    if known is None:
        known = _foreign[filename] = filename.startswith((PACKAGE, LIBRARY, "<frozen ", "<torch ")) or "-packages" in filename
    return known


def here(depth: int = 1) -> tuple[CodeType, int]:
    """The place in the user's program that is running now: the nearest frame outside installed code."""
    first = frame = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        known = _foreign.get(filename)
        if known is None:
            known = foreign(filename)
        if not known and frame.f_globals is not generated:
            return code, frame.f_lasti
        frame = frame.f_back  # type: ignore[assignment]
    return first.f_code, first.f_lasti


class Program:
    """The source of one file, parsed."""

    def __init__(self, filename: str, lines: tuple[str, ...]):
        self.filename, self.lines = filename, lines
        try:
            self.tree: ast.Module = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            self.tree = ast.Module([], [])
        self.statements = [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]
        self.parents = {child: parent for parent in ast.walk(self.tree) for child in ast.iter_child_nodes(parent)}

    def text(self, node: ast.AST) -> str:
        """What an expression looks like in the source, on one line."""
        return source_of(self.filename, node)


@lru_cache(64)
def _program(filename: str, lines: tuple[str, ...]) -> Program:
    return Program(filename, lines)


def program(filename: str) -> Program:
    """The parsed source of a file; empty where there is none."""
    return _program(filename, tuple(linecache.getlines(filename)))


def statement_at(filename: str, line: int) -> ast.stmt | None:
    """The innermost statement on a line: for a compound one, its head."""
    found = None
    for statement in program(filename).statements:
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            if found is None or statement.lineno >= found.lineno:
                found = statement
    return found
