"""The derivatives of ops by the names of their nodes, as the embedded engine runs them. Imports engine."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module


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
