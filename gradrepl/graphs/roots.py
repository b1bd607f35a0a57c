"""Find the tensors in what was asked about: a tensor, a grad_fn, or any nest of them. Imports protocol and errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from .errors import GraphError
from .protocol import is_node, is_tensor


def find_roots(asked: Any) -> list[tuple[str, Any]]:
    """Return (path, tensor or grad_fn) for all in the nest, in its order.

    Raises GraphError if there is none.
    """
    found = list(tensors_in(asked))
    if not found:
        raise GraphError(_nothing_in(asked))
    return found


def tensors_in(asked: Any) -> Iterator[tuple[str, Any]]:
    """Yield (path, tensor or grad_fn) for all in a nest, each container once."""
    stack, seen = [("", asked)], set()
    while stack:
        path, thing = stack.pop()
        if is_tensor(thing) or is_node(thing):
            yield path, thing
        elif id(thing) not in seen:
            seen.add(id(thing))
            stack.extend(reversed([(path + step, item) for step, item in _children(thing)]))


def _children(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in thing.items())
    elif isinstance(thing, tuple) and hasattr(thing, "_fields"):
        yield from ((f".{name}", item) for name, item in zip(thing._fields, thing, strict=True))
    elif isinstance(thing, (list, tuple, set, frozenset)):
        yield from ((f"[{number}]", item) for number, item in enumerate(thing))
    elif dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        yield from ((f".{field.name}", getattr(thing, field.name)) for field in dataclasses.fields(thing))


def _nothing_in(asked: Any) -> str:
    what = f"an empty {type(asked).__name__}" if isinstance(asked, (Mapping, list, tuple, set)) and not asked else repr_of(asked)
    return f"there is no tensor in {what}; give a tensor, a grad_fn, or a list or dict of them"


def repr_of(asked: Any) -> str:
    return "None" if asked is None else f"this {type(asked).__name__}"
