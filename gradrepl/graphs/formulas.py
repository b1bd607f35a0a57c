"""What PyTorch's documentation calls the inputs of an op, and how its derivative is written. Imports the engine, which declares both."""

from __future__ import annotations

from functools import cache, lru_cache


@cache
def declared() -> dict[str, dict[str, str]]:
    """Node class -> input -> its derivative, for all ops of the engine."""
    import gradrepl.engine  # noqa: F401 (declares them)
    from gradrepl.engine.names import NAMES

    declarations = (getattr(function, "declaration", None) for function in list(NAMES.values()))
    return {each.node_name: each.formulas for each in declarations if each is not None and each.node_name}


def formulas(name: str) -> dict[str, str]:
    """Return {input: its derivative} of a node class, nothing for one that the engine does not know.

    >>> formulas("SinBackward0")
    {'self': 'grad * conj(self.cos())'}
    """
    return declared().get(name, {})


@lru_cache(maxsize=1000)
def input_names(name: str) -> tuple[str, ...]:
    """Return the names of the inputs of a node class in the order of its edges, () if they are not known.

    >>> input_names("MmBackward0")
    ('self', 'mat2')
    """
    return tuple(input for inputs in formulas(name) for input in inputs.split(", "))
