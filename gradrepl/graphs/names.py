"""Find what the program calls its tensors. Imports protocol and errors."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from .errors import GraphError
from .protocol import has_fresh_grad_fn, is_module, is_tensor

MOST_ITEMS = 1000  # of a list or dict in the namespace that are looked at


class Names:
    """The names of tensors, by the tensor itself and by the node and output it came from."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.of_tensor: dict[int, list[str]] = {}
        self.of_edge: dict[tuple[Any, int], list[str]] = {}
        self.tensors: dict[tuple[Any, int], Any] = {}  # a named tensor for each edge
        self.given = 0  # how many tensors were named explicitly
        for name, tensor in _tensors(namespace):
            self._add(name, tensor)

    def _add(self, name: str, tensor: Any) -> None:
        names = self.of_tensor.setdefault(id(tensor), [])
        if name in names:
            return
        names.append(name)
        if tensor.requires_grad and has_fresh_grad_fn(tensor) and tensor.grad_fn is not None:
            edge = tensor.grad_fn, tensor.output_nr
            self.tensors.setdefault(edge, tensor)
            self.of_edge.setdefault(edge, []).append(name)

    def add_unnamed(self, namespace: Mapping[str, Any]) -> None:
        """Name the tensors that have no name yet."""
        named = set(self.of_tensor)
        for name, tensor in _tensors(namespace):
            if id(tensor) not in named:
                self._add(name, tensor)

    def tensor(self, tensor: Any) -> tuple[str, ...]:
        return tuple(self.of_tensor.get(id(tensor), ()))

    def edge(self, node: Any, output: int) -> tuple[str, ...]:
        return tuple(self.of_edge.get((node, output), ()))


def _tensors(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, tensor): variables first, then parameters of modules and items of lists and dicts."""
    later = []
    for name, thing in list(namespace.items()):
        if is_tensor(thing):
            yield str(name), thing
        elif is_module(thing) or type(thing) in (list, tuple, dict):
            later.append((str(name), thing))
    for name, thing in later:
        yield from _inner(name, thing)


def _inner(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    if is_module(thing):
        for inner, tensor in thing.named_parameters(remove_duplicate=False):
            yield f"{name}.{inner}", tensor
        return
    pairs = thing.items() if isinstance(thing, dict) else enumerate(thing)
    for (key, item), _ in zip(pairs, range(MOST_ITEMS), strict=False):
        if is_tensor(item):
            yield f"{name}[{key!r}]", item


def find_names(names: Any, frame: FrameType | None = None) -> Names:
    """Return the names in `names`: a dict, the namespace of a program, or a Module.

    Where that is None, or for what is no parameter of that Module, they are those of the variables that the program at `frame` sees.
    """
    if isinstance(names, Mapping) and "__name__" in names:
        return Names(_public(names))
    visible = _visible(frame) if frame and (names is None or is_module(names)) else {}
    if names is None:
        return Names(visible)
    if not isinstance(names, Mapping) and not is_module(names):
        raise GraphError(
            f"names= takes a dict of tensors or a Module, not {type(names).__name__}; for example names={{'x': x}} or names=model"
        )
    found = Names(dict(names.named_parameters(remove_duplicate=False)) if is_module(names) else names)
    found.given = len(found.of_tensor)
    if names and not found.given:
        raise GraphError("names= holds no tensor; it takes a dict of tensors or a Module, for example names={'x': x} or names=model")
    found.add_unnamed(visible)
    return found


def _visible(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame, its own before the globals, without those that begin with an underscore."""
    visible = {**frame.f_globals, **_own(frame)} if frame.f_locals is not frame.f_globals else frame.f_globals
    return _public(visible)


def _public(namespace: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: thing for name, thing in list(namespace.items()) if isinstance(name, str) and not name.startswith("_")}


def _own(frame: FrameType) -> dict[str, Any]:
    """The locals of a frame, of which nothing is kept alive: Python 3.11 leaves in a function's frame a dict that holds them all."""
    snapshot = frame.f_locals
    found = dict(snapshot)
    ours_alone = 3  # `snapshot`, the frame and getrefcount hold it
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and type(snapshot) is dict and sys.getrefcount(snapshot) <= ours_alone:
        snapshot.clear()
    return found
