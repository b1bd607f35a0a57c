"""What was seen while a program ran: the line that made a node, its value, and why a tensor has no graph.

A node's protocol does not tell these. Whoever watches the engine records them here, and they live as long as what they speak of. Imports
model only.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple

from .model import Cut, Source


class Observation(NamedTuple):
    source: Source | None = None  # the line that ran the op
    value: Any = None  # what the op returned: a tensor, a tuple of them, or a function that gives it; best held without its graph
    scope: tuple[str, ...] = ()  # the modules that ran it, outermost first: ("encoder", "encoder.0")
    inner: str = ""  # the op that wrote through a view

    def results(self) -> tuple:
        value = self.value() if isinstance(self.value, FunctionType) else self.value
        return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class Store:
    """A dict by identity that forgets what is gone; tensors compare elementwise, so a WeakKeyDictionary cannot hold them."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[weakref.ref, Any]] = {}

    def __setitem__(self, key: Any, value: Any) -> None:
        number = id(key)
        self.kept[number] = weakref.ref(key, lambda ref: self.drop(number, ref)), value

    def drop(self, number: int, ref: weakref.ref) -> None:
        """Forget what is gone, unless its id has been given to something new."""
        if number in self.kept and self.kept[number][0] is ref:
            del self.kept[number]

    def get(self, key: Any, default: Any = None) -> Any:
        found = self.kept.get(id(key))
        return found[1] if found and found[0]() is key else default

    def __len__(self) -> int:
        return len(self.kept)


KEY = "gradrepl"  # in the metadata of a node
looking: list[bool] = []  # not empty while a question is answered: what is called then is not the program's, and observers leave it alone
_nodes, _cuts = Store(), Store()
_in_metadata: list[bool] = []  # not empty once something was put there: reading `metadata` of every node is slow
# who is asked about what was not recorded here: an observer that keeps what it sees in its own way
node_witnesses: list[Callable[[Any], Observation | None]] = []
cut_witnesses: list[Callable[[Any], Cut | None]] = []


@contextmanager
def unwatched() -> Iterator[None]:
    """Within the block, tensors are read to answer a question."""
    looking.append(True)
    try:
        yield
    finally:
        looking.pop()


def record(node: Any, **seen: Any) -> None:
    """Keep what was seen of a node, beside what is kept already: any field of Observation."""
    kept = (_kept(node) or Observation())._replace(**seen)
    try:
        _nodes[node] = kept
    except TypeError:  # PyTorch's own nodes take no weak reference, but carry a dict
        node.metadata[KEY] = kept
        _in_metadata.append(True)
        del _in_metadata[1:]


def _kept(node: Any) -> Observation | None:
    found = _nodes.get(node) if _nodes.kept else None
    return found or (node.metadata.get(KEY) if _in_metadata else None)


def any_observed() -> bool:
    """May `lookup` find anything?"""
    return bool(_nodes.kept or _in_metadata or node_witnesses)


def lookup(node: Any) -> Observation | None:
    """Return what was seen of a node, if anything: what was recorded, and beside it what a witness tells."""
    kept = _kept(node)
    told = None
    for ask in node_witnesses:
        told = told or ask(node)
    if kept and told:
        return told._replace(**{name: value for name, value in kept._asdict().items() if value})
    return kept or told


def record_cut(tensor: Any, reason: str, source: Source | None = None) -> None:
    """Keep why no graph hangs under a tensor: "detach()", "under no_grad"."""
    _cuts[tensor] = Cut(reason, source)


def lookup_cut(tensor: Any) -> Cut | None:
    """Return why no graph hangs under a tensor, if that was seen."""
    found = _cuts.get(tensor) if _cuts.kept else None
    return found or next(filter(None, (ask(tensor) for ask in cut_witnesses)), None)
