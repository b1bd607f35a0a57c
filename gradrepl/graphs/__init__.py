"""What hangs under a grad_fn, as plain data. Knows tensors by PyTorch's public node protocol only, so real torch's too."""

from __future__ import annotations

import sys
from typing import Any

from .errors import GraphError
from .model import BackwardStep, Cut, Edge, Graph, Look, Node, Output, Root, Saved, Source, Value
from .names import find_names
from .scopes import module_scopes
from .walk import Capture
from .walk import capture as _capture

__all__ = """
BackwardStep Capture Cut Edge Graph GraphError Look Node Output Root Saved Source Value capture graph module_scopes
""".split()


def graph(y: Any, *, names: Any = None, **look: Any) -> Graph:
    """Return the graph under `y`: a tensor, a grad_fn, or any nest of lists, tuples, dicts and dataclasses of them.

    `names` is a dict of tensors or a Module; by default the variables that the caller sees. The other keywords say how the graph is drawn:
    `saved=True` with what is kept for backward, `values=True` with numbers, `fold=False` with every repeat in full, `flow="forward"` with
    arrows in the order of computation; all of them are fields of `Look`.

    Raises GraphError if there is no graph, or no such keyword.

    >>> from gradrepl import torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> [node.name for node in graph((x * 2).sum()).nodes]
    ['SumBackward0', 'MulBackward0', 'AccumulateGrad']
    """
    return capture(y, names=names, _frame=sys._getframe(1), **look).graph


def capture(y: Any, *, names: Any = None, _frame: Any = None, **look: Any) -> Capture:
    """Return the graph under `y` together with the live nodes: `capture(y).functions["n1"]` is a grad_fn."""
    if isinstance(y, Graph):
        return Capture(y.drawn(**look_fields(look)), {}, ())
    return _capture(y, find_names(names, _frame or sys._getframe(1)), Look(**look_fields(look)))


CHOICES = {
    "flow": ("backward", "forward"),
    "labels": ("backward", "forward"),
    "group": (None, "module"),
    "theme": ("auto", "light", "dark"),
}


def look_fields(look: dict[str, Any]) -> dict[str, Any]:
    """Check the keywords that say how a graph is drawn.

    Raises GraphError with what there is to choose from.
    """
    fields = Look.__dataclass_fields__
    for name, value in look.items():
        if name not in fields:
            raise GraphError(f"no option {name}=; there are names, {', '.join(fields)}")
        if value not in CHOICES.get(name, (value,)):
            raise GraphError(f"{name}={value!r} is not one of {', '.join(map(repr, CHOICES[name]))}")
    if isinstance(look.get("fold"), str):
        look = look | {"fold": (look["fold"],)}
    return look
