"""Draw a Graph: tree, DOT, SVG, PNG and more. Sees only Graph; imports graphs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from gradrepl.graphs import capture
from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.model import Graph

from .tree import Tree

__all__ = ["GraphError", "Tree", "listing", "mimebundle", "save", "tree"]


def tree(y: Any, *, names: Any = None, **look: Any) -> Tree:
    """Return the graph under `y` as a tree that prints in a terminal; keywords as of `graph`.

    Raises GraphError if there is no graph.

    >>> from gradrepl import torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> print(tree((x * x).sum()))
    SumBackward0 () n1
    MulBackward0 (3,) n2
    ├ 0: ■ x (3,)  leaf, grad None, used ×2 n3
    ├ 1: ■ x ↩ n3
    """
    return Tree(capture(y, names=names, _frame=sys._getframe(1), **look).graph)


def save(y: Any, path: str | os.PathLike, *, names: Any = None, **look: Any) -> Path:
    """Write the graph under `y` to a file whose suffix names the format, and return its path; keywords as of `graph`.

    Raises GraphError if there is no graph, for an unknown suffix, or where the file cannot be written; nothing is changed then.
    """
    from .files import check_place, save_graph

    check_place(Path(path).expanduser())
    return save_graph(capture(y, names=names, _frame=sys._getframe(1), **look).graph, path)


def listing(y: Any, *, names: Any = None, **look: Any) -> str:
    """Return the graph under `y` as text, one line per op in the order of execution, to paste into a bug report.

    >>> from gradrepl import torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> print(listing((x * 2).sum()))
    n3  (3,) float32  leaf x               grad None
    n2  (3,) float32  MulBackward0(n3, 2)
    n1  () float32    SumBackward0(n2)
                      → n1
    """
    from .listing import to_listing

    return to_listing(capture(y, names=names, _frame=sys._getframe(1), **look).graph)


def mimebundle(graph: Graph) -> dict[str, str]:
    """What a notebook shows: the picture, and the tree where there are no pictures."""
    from .svg import to_svg

    return {"image/svg+xml": to_svg(graph, graph.look.theme), "text/plain": str(Tree(graph))}
