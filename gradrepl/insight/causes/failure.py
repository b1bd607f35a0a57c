"""An error of autograd, and the place in the program that raised it. Imports question, slicing."""

from __future__ import annotations

import ast
import sys
from types import FrameType
from typing import Any

from gradrepl.graphs.protocol import is_tensor
from gradrepl.insight import places
from gradrepl.insight.algebra import from_library, operands
from gradrepl.insight.causes.program import base_name
from gradrepl.insight.causes.question import Question, call_at
from gradrepl.insight.causes.slicing import TOP, Slice
from gradrepl.insight.places import Place, foreign


class Failure(Question):
    """An error, with the place in the user's program that raised it."""

    def __init__(self, error: BaseException, frame: FrameType):
        self.error, self.message = error, str(error)
        frames = []
        trace = error.__traceback__
        while trace is not None:
            if not foreign(trace.tb_frame.f_code.co_filename) and trace.tb_frame.f_globals is not places.generated:
                frames.append((trace.tb_frame, Place(trace.tb_frame.f_code, trace.tb_lasti)))
            trace = trace.tb_next
        self.frames = frames
        super().__init__(None, frames[-1][0] if frames else frame)
        self.place = frames[-1][1] if frames else None

    @property
    def line(self) -> str:
        return self.where(self.place) if self.place else "the last line"

    @property
    def reason(self) -> str:
        """The first line of the message, to be put into a sentence."""
        return self.message.partition("\n")[0].rstrip(".") or "no message"

    @property
    def said(self) -> str:
        return self.place.text if self.place else self.message

    @property
    def node(self) -> Any:
        """The expression that was running, in the tree of the source."""
        return call_at(self.source, self.place) if self.place else None

    @property
    def parsed(self) -> ast.AST | None:
        """The expression or statement that was running, parsed by itself."""
        try:
            statement = ast.parse(self.said).body[0]
        except (SyntaxError, IndexError):
            return None
        return statement.value if isinstance(statement, ast.Expr) else statement

    @property
    def receiver(self) -> str:
        """What the method was called on: `loss` in `loss.backward()`; the argument of a function of torch."""
        node = self.parsed
        if isinstance(node, ast.AugAssign):
            return ast.unparse(node.target)
        if not isinstance(node, ast.Call):
            return ast.unparse(node.value) if isinstance(node, (ast.Subscript, ast.Attribute)) else ""
        if not from_library(node.func):
            return ast.unparse(node.func.value)  # type: ignore[attr-defined]
        first = node.args[0] if node.args else None
        if isinstance(first, (ast.List, ast.Tuple)) and first.elts:
            first = first.elts[0]
        return ast.unparse(first) if first is not None else ""

    @property
    def subject(self) -> Any:
        """The tensor that the receiver means, if it is a variable."""
        return self.value_of(self.receiver)

    @property
    def roots(self) -> list:
        """The tensors that backward was called on: the variable, or those in the expression."""
        if is_tensor(self.subject):
            return [self.subject]
        try:
            names = [n.id for n in ast.walk(ast.parse(self.receiver)) if isinstance(n, ast.Name)]
        except SyntaxError:
            return []
        return [t for n in names if is_tensor(t := self.variable(n)) and t.grad_fn is not None]

    @property
    def tensors(self) -> list[tuple[str, Any]]:
        """The variables in the expression that are tensors, by name."""
        names = sorted({n.id for n in ast.walk(self.parsed) if isinstance(n, ast.Name)}) if self.parsed is not None else []
        return [(name, self.variable(name)) for name in names if is_tensor(self.variable(name))]

    def value_of(self, name: str) -> Any:
        if name in self.namespace:
            return self.namespace[name]
        try:
            node = ast.parse(name, mode="eval").body
        except SyntaxError:
            return None
        return Slice(self.source, self.namespace, None).resolve(node, TOP)

    def statement_text(self) -> str:
        statement = self.place.statement if self.place else None
        return self.text(statement) if statement is not None and statement in self.source.owner else self.said

    def definition_of(self, name: str) -> ast.AST | None:
        """The statement that a variable of this frame comes from."""
        scope = next((f for f in self.source.functions.values() if f.name == self.frame.f_code.co_name), None)
        found = self.source.definitions.get((scope, name), []) or self.source.definitions.get((None, name), [])
        found = [d for d in found if not d.partial and (self.place is None or d.statement.lineno <= self.place.line or scope is None)]  # type: ignore[attr-defined]
        return found[-1].statement if found else None


def last_error() -> BaseException | None:
    """The error that the prompt showed last; Python 3.11 has only the second of these names."""
    return getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)


def target_tensor(f: Failure) -> tuple[str, Any]:
    """The variable that a write in place went to, as written, and its tensor."""
    statement = f.place.statement if f.place else None
    target: Any = f.parsed
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    elif isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        target = target.func.value
    name = base_name(target) if target is not None else ""
    if isinstance(target, ast.Attribute):
        name = ast.unparse(target)
    return name or f.receiver, f.value_of(name) if name else None


def operand_names(text: str, slot: str) -> list[str]:
    """The variable that a slot of an op means: `w` for self in `w ** 2`."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return []
    sides = operands(node)
    index = 1 if slot in ("other", "mat2") else 0
    return [sides[index].id] if len(sides) > index and isinstance(sides[index], ast.Name) else []  # type: ignore[attr-defined]
