"""The derivatives of ops by the names of their nodes, as the embedded engine runs them, and the same with numbers in.

Imports engine, numerals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from gradrepl.insight.numerals import numbers

FACT = re.compile(r"\b(\w+)\.(sym_sizes\(\)|sym_numel\(\)|sym_strides\(\)|dtype|geometry)")
FEW = 6  # elements that a formula shows in full


# a formula, or the function it calls -> the mathematics of it, for a reader
MATHEMATICS = {
    "grad.expand(self.sym_sizes())": "expand(grad)",
    "maybe_multiply(grad, alpha)": "grad * alpha",
    "maybe_multiply(-grad, alpha)": "-grad * alpha",
    "maybe_multiply(grad, beta)": "grad * beta",
    "mul_scalar": "grad * other",
    "div_scalar": "grad / other",
    "pow_backward": "grad * exponent * self ** (exponent - 1)",
    "pow_backward_self": "grad * exponent * self ** (exponent - 1)",
    "pow_backward_exponent": "grad * result * log(self)",
    "div_tensor_other_grad": "-grad * self / other ** 2",
    "threshold_backward(grad, result, 0)": "grad * (result > 0)",
    "threshold_backward(grad, self, threshold)": "grad * (self > threshold)",
    "clamp_backward": "grad * (min <= self <= max)",
    "sigmoid_backward": "grad * result * (1 - result)",
    "tanh_backward": "grad * (1 - result ** 2)",
    "softmax_backward_data": "result * (grad - sum(grad * result))",
    "log_softmax_backward_data": "grad - exp(result) * sum(grad)",
    "logsumexp_backward": "grad * exp(self - result)",
    "mse_loss_backward": "grad * 2 * (self - target) / n",
    "vector_norm_backward": "grad * self / result",
    "norm_backward": "grad * self / result",
    "sum_backward": "expand(grad)",
    "mean_backward": "expand(grad) / n",
    "mean_all_backward": "expand(grad) / n",
    "sum_to": "sum(grad)",
    "mm_mat1_backward": "grad @ mat2.T",
    "mm_mat2_backward": "mat1.T @ grad",
    "zeros_like(grad)": "0 * grad",
}


@lru_cache(4000)
def mathematics(formula: str) -> str:
    """What a formula computes, as it stands in a textbook; the formula itself where it says that already."""
    found = MATHEMATICS.get(formula) or MATHEMATICS.get(formula.partition("(")[0] if formula.endswith(")") else "")
    return found or real(formula)


@lru_cache(1)
def table() -> dict[str, dict[str, str]]:
    """Node name -> {input: formula}, of every op that is declared."""
    import_module("gradrepl.torch")
    from gradrepl.engine.declare import Declaration
    from gradrepl.engine.names import NAMES

    found = {}
    for thing in list(NAMES.values()):
        declaration = getattr(thing, "declaration", None)
        if isinstance(declaration, Declaration) and declaration.node_name:
            found[declaration.node_name] = dict(declaration.formulas)
    return found


def formulas_of(name: str) -> dict[str, str]:
    """{input: derivative} for a node; {} where the embedded engine does not have it."""
    return table().get(name.rpartition("::")[2], {})


@lru_cache(4000)
def formula_for(name: str, edge: int, count: int) -> tuple[str, str]:
    """(input, formula) of one of a node's `count` edges: formulas name one input, several ("input, weight"), or a list of tensors."""
    found = formulas_of(name)
    inputs = [(each, text) for names, text in found.items() for each in names.split(", ")]
    if edge < len(inputs) and (len(inputs) == count or edge < len(inputs) - 1):
        return inputs[edge]
    return (f"{inputs[-1][0]}[{edge - len(inputs) + 1}]", inputs[-1][1]) if inputs else ("", "")


class WithoutConjugates(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == "conj" and len(node.args) == 1 else node


@lru_cache(4000)
def real(formula: str) -> str:
    """A formula as it reads for real numbers: conj(x) is x."""
    if "conj(" not in formula:
        return formula
    return ast.unparse(WithoutConjugates().visit(ast.parse(formula, mode="eval")))


def filled(formula: str, values: Mapping[str, Any]) -> str:
    """The formula with numbers in the place of names; what is too large to show keeps its name."""
    formula = FACT.sub(lambda m: fact(m, values), real(formula))
    names = "|".join(re.escape(name) for name in values if name.isidentifier())
    return re.sub(rf"(?<![\w.])({names})\b(?!\s*[(=])", lambda m: shown(m[1], values[m[1]]), formula) if names else formula


def fact(match: re.Match, values: Mapping[str, Any]) -> str:
    name = f"{match[1]}_{match[2].removesuffix('()')}"
    return str(tuple(values[name])) if isinstance(values.get(name), (tuple, list)) else match[0]


def shown(name: str, value: Any) -> str:
    if isinstance(value, (bool, str, tuple, type(None))):
        return repr(value)
    if isinstance(value, list):
        return name
    array = np.asarray(value)
    if array.dtype.kind not in "fciub" or array.size > FEW:
        return name
    text = numbers(array, FEW)
    return f"({text})" if text.startswith("-") else text
