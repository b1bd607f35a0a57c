"""What a tensor and a node of PyTorch tell by themselves, whichever engine made them. Imports nothing of the project."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

_tensor_types: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
_module_types: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
_node_types: weakref.WeakKeyDictionary[type, NodeType] = weakref.WeakKeyDictionary()

UNTOLD = (
    "_sizes",
    "_opt",
    "_minus_1",
    "_numel",
    "_options",
    "_scalar_type",
    "_dtype",
    "_strides",
)  # of the inputs, which the graph shows anyway


class NodeType(NamedTuple):
    """What all nodes of a class have in common."""

    kind: str
    name: str
    plain: tuple[str, ...]  # `_saved_…` attributes that hold no tensors
    tensors: tuple[tuple[str, str, str], ...]  # (where one is unpacked: `_saved_…`, where it lies: `_raw_saved_…`, what to call it)


def _derives(cls: type, name: str, cache: weakref.WeakKeyDictionary[type, bool]) -> bool:
    known = cache.get(cls)
    if known is None:
        known = any(base.__name__ == name and base.__module__.partition(".")[0] == "torch" for base in cls.__mro__)
        cache[cls] = known
    return known


def is_tensor(thing: Any) -> bool:
    """Is it a torch.Tensor of any engine? By class alone: no property of the thing is run."""
    return _derives(type(thing), "Tensor", _tensor_types)


def is_module(thing: Any) -> bool:
    return _derives(type(thing), "Module", _module_types)


def is_node(thing: Any) -> bool:
    cls = type(thing)
    return not isinstance(thing, type) and hasattr(cls, "next_functions") and hasattr(cls, "name")


def node_type(node: Any) -> NodeType:
    cls = type(node)
    known = _node_types.get(cls)
    if known is None:
        known = _node_types[cls] = _read_type(node, cls)
    return known


def _read_type(node: Any, cls: type) -> NodeType:
    attributes = [name for name in dir(node) if name.startswith(("_saved_", "_raw_saved_"))]
    raw = {name.removeprefix("_raw") for name in attributes if name.startswith("_raw")}
    plain = tuple(name for name in attributes if name.startswith("_saved_") and name not in raw and not name.endswith(UNTOLD))
    name = node.name()
    short = name if "<" in name else name.rpartition("::")[2]
    custom = hasattr(cls, "_forward_cls")
    kind = "leaf" if hasattr(node, "variable") else "custom" if custom else "inplace" if short == "CopySlices" else "op"
    names = ["saved_tensors"] if custom else sorted(raw, key=slot_order)
    slots = tuple((name, "_raw_" + name.removeprefix("_"), name.removeprefix("_saved_")) for name in names)
    return NodeType(kind, short, () if custom else plain, slots)


def slot_order(name: str) -> tuple[bool, str]:
    """What stands first in a list of arguments, then the rest by name."""
    return name not in ("_saved_self", "_saved_input"), name


def has_fresh_grad_fn(tensor: Any) -> bool:
    """May `.grad_fn` be read? That of a view whose base was written to is made anew, which takes a sequence number.

    An inference tensor has none and no version either: asking for it raises.
    """
    return not tensor._is_view() or tensor.is_inference() or tensor._version == 0
