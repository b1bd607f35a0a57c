"""The derivatives of ops by the names of their nodes, as the embedded engine runs them, and the same with numbers in. Imports engine, numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from gradrepl.insight.numbers import numbers

FACT = re.compile(r"\b(\w+)\.(sym_sizes\(\)|sym_numel\(\)|sym_strides\(\)|dtype|geometry)")
CONJUGATE = re.compile(r"\bconj\(([\w.]+)\)")
FEW = 6  # elements that a formula shows in full


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


def formula_for(name: str, edge: int, count: int) -> tuple[str, str]:
    """(input, formula) of one of a node's `count` edges: formulas name one input, several ("input, weight"), or a list of tensors."""
    found = formulas_of(name)
    inputs = [(each, text) for names, text in found.items() for each in names.split(", ")]
    if edge < len(inputs) and (len(inputs) == count or edge < len(inputs) - 1):
        return inputs[edge]
    return (f"{inputs[-1][0]}[{edge - len(inputs) + 1}]", inputs[-1][1]) if inputs else ("", "")


def real(formula: str) -> str:
    """A formula as it reads for real numbers: conj(x) is x."""
    before = None
    while before != formula:
        before, formula = formula, CONJUGATE.sub(r"\1", formula)
    return formula


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
