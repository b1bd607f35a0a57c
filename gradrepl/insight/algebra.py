"""Formulas as algebra: the local derivative in a formula, and expressions as text and LaTeX. Imports nothing of the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache

GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau",
    "phi", "chi", "psi", "omega",
}  # fmt: skip
KNOWN = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}  # LaTeX has these as they are
LIBRARIES = {"torch", "F", "nn", "np", "numpy", "autograd", "copy", "math", "plt"}
OPERATORS = {ast.Mult: r" \, ", ast.Add: " + ", ast.Sub: " - ", ast.MatMult: r" \, "}
COMPARE = {ast.Gt: ">", ast.GtE: r"\ge", ast.Lt: "<", ast.LtE: r"\le", ast.Eq: "="}
PRECEDENCE = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2, ast.MatMult: 2, ast.USub: 3, ast.Pow: 4}


def parsed(source: str) -> ast.expr | None:
    try:
        return ast.parse(source, mode="eval").body
    except SyntaxError:
        return None


def operands(node: ast.AST | None) -> list[ast.AST]:
    """What an operation is applied to: `x` and `2` in `x ** 2`, `x` in `torch.sin(x)` and `x.sin()`."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Call):
        library = from_library(node.func)
        return list(node.args) if library else [node.func.value, *node.args]  # type: ignore[attr-defined]
    return []


def from_library(function: ast.AST) -> bool:
    """Whether a function is one of a module, `torch.sin`, and not a method of a result, `torch.sin(x).sum`."""
    if isinstance(function, ast.Name):
        return True
    node = function
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(function, ast.Attribute) and isinstance(node, ast.Name) and node.id in LIBRARIES


def in_brackets(source: str) -> str:
    """An expression as it can stand before a method."""
    return source if source.replace("_", "a").isalnum() or source.endswith((")", "]")) and not source.startswith("-") else f"({source})"


def mentions(node: ast.AST, name: str = "grad") -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


@lru_cache(4000)
def local_derivative(formula: str) -> str | None:
    """What a formula multiplies the incoming gradient by: `2 * x` of `grad * (2 * x)`; None if it is no such product.

    >>> local_derivative("grad / (2 * result)"), local_derivative("-grad"), local_derivative("grad * 3")
    ('1 / (2 * result)', '-1', '3')
    """
    node = parsed(formula)
    factor = node and without_grad(node)
    return ast.unparse(factor) if factor is not None else None


def without_grad(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Name) and node.id == "grad":
        return ast.Constant(1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = without_grad(node.operand)
        return inner and ast.UnaryOp(ast.USub(), inner)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        if mentions(node.left) and not mentions(node.right):
            inner = without_grad(node.left)
            return inner and combined(inner, node.op, node.right)
        if isinstance(node.op, ast.Mult) and mentions(node.right) and not mentions(node.left):
            inner = without_grad(node.right)
            return inner and combined(node.left, node.op, inner)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("expand", "sum") and mentions(node):
        return ast.Constant(1)  # ones where the sum was; the sum over what was broadcast
    return None


def combined(left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr:
    if isinstance(op, ast.Mult) and isinstance(left, ast.Constant) and left.value == 1:
        return right
    if isinstance(right, ast.Constant) and right.value == 1:
        return left
    if isinstance(op, ast.Mult) and isinstance(left, ast.UnaryOp) and is_one(left.operand):
        return ast.UnaryOp(ast.USub(), right)
    return ast.BinOp(left, op, right)


def substituted(source: str, names: Mapping[str, str]) -> str:
    """The expression with other expressions in the place of names, in brackets where needed."""
    node = parsed(source)
    if node is None:
        return source

    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return parsed(names.get(name.id, name.id)) or name

    return ast.unparse(Simplify().visit(Put().visit(node)))


class Simplify(ast.NodeTransformer):
    """2 - 1 is 1, x ** 1 is x, 1 * x is x."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        left, right = node.left, node.right
        both = isinstance(left, ast.Constant) and isinstance(right, ast.Constant)
        if both and isinstance(left.value, (int, float)) and isinstance(right.value, (int, float)) and isinstance(node.op, ast.Sub):  # type: ignore[attr-defined]
            return ast.Constant(left.value - right.value)  # type: ignore[attr-defined]
        if isinstance(node.op, (ast.Pow, ast.Div)) and is_one(right):
            return left
        if isinstance(node.op, ast.Mult) and (is_one(left) or is_one(right)):
            return right if is_one(left) else left
        return node


def is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def latex(source: str) -> str:
    r"""An expression as LaTeX.

    >>> print(latex("2 * x ** 2 / (1 + exp(-y))"))
    \frac{2 \, x^{2}}{1 + \exp\left(-y\right)}
    """
    node = parsed(source)
    return write(node) if node is not None else rf"\mathrm{{{escaped(source)}}}"


def write(node: ast.expr, above: int = 0) -> str:
    if isinstance(node, ast.BinOp):
        return binary(node, above)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return bracketed(f"-{write(node.operand, 3)}", above > 1)
    if isinstance(node, ast.Name):
        return symbol(node.id)
    if isinstance(node, ast.Constant):
        return f"{node.value:g}" if isinstance(node.value, (int, float)) else rf"\mathrm{{{escaped(str(node.value))}}}"
    if isinstance(node, ast.Call):
        return call(node)
    if isinstance(node, ast.Attribute):
        return f"{write(node.value, 4)}^{{T}}" if node.attr == "T" else rf"{write(node.value, 4)}.\mathrm{{{escaped(node.attr)}}}"
    if isinstance(node, ast.Compare):
        parts = [write(node.left)] + [f"{COMPARE.get(type(op), '=')} {write(right)}" for op, right in zip(node.ops, node.comparators)]
        return r"\mathbf{1}\left[" + " ".join(parts) + r"\right]"
    if isinstance(node, ast.Subscript):
        return f"{write(node.value, 4)}_{{{escaped(ast.unparse(node.slice))}}}"
    return rf"\mathrm{{{escaped(ast.unparse(node))}}}"


def binary(node: ast.BinOp, above: int) -> str:
    if isinstance(node.op, ast.Div):
        return rf"\frac{{{write(node.left)}}}{{{write(node.right)}}}"
    if isinstance(node.op, ast.Pow):
        return f"{write(node.left, 5)}^{{{write(node.right)}}}"
    own = PRECEDENCE.get(type(node.op), 1)
    operator = OPERATORS.get(type(node.op), " ? ")
    return bracketed(f"{write(node.left, own)}{operator}{write(node.right, own + isinstance(node.op, ast.Sub))}", above > own)


def bracketed(text: str, needed: bool) -> str:
    return rf"\left({text}\right)" if needed else text


def call(node: ast.Call) -> str:
    """A function or method: \\sin(x), \\sqrt{x}, |x|."""
    method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in ("torch", "F", "np", "math")
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    arguments = ([node.func.value] if method else []) + list(node.args)  # type: ignore[attr-defined]
    first = write(arguments[0]) if arguments else ""
    special = {
        "sqrt": rf"\sqrt{{{first}}}", "abs": rf"\left|{first}\right|", "rsqrt": rf"\frac{{1}}{{\sqrt{{{first}}}}}",
        "square": f"{write(arguments[0], 5) if arguments else ''}^{{2}}", "conj": rf"\overline{{{first}}}",
        "sum": rf"\sum {first}" if len(arguments) == 1 else "", "reciprocal": rf"\frac{{1}}{{{first}}}",
    }  # fmt: skip
    if special.get(name):
        return special[name]
    if name == "pow" and len(arguments) == 2:
        return f"{write(arguments[0], 5)}^{{{write(arguments[1])}}}"
    shown = rf"\{name}" if name in KNOWN else rf"\operatorname{{{escaped(name)}}}"
    return rf"{shown}\left({', '.join(map(write, arguments))}\right)"


def symbol(name: str) -> str:
    r"""A variable: x, \theta, w_{1}, \mathit{loss}."""
    head = re.fullmatch(r"([A-Za-z]+?)_?(\d+)", name)
    if head:
        return f"{symbol(head[1])}_{{{head[2]}}}"
    if name in GREEK:
        return rf"\{name}"
    return name if len(name) == 1 else rf"\mathit{{{escaped(name)}}}"


def escaped(text: str) -> str:
    return re.sub(r"([#$%&_{}])", r"\\\1", text).replace("^", r"\^{}").replace("~", r"\~{}")
