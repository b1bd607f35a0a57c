"""Read what one node or tensor tells of itself, without running or changing anything of the program. Imports model and protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from .model import Output, Source, Value
from .protocol import NodeType, is_tensor

VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
FEW = 12  # numbers that are shown in full
NO_OUTPUT = (Output(None),)


def dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class Kept(NamedTuple):
    """What is in one place where a node keeps a tensor for backward."""

    slot: str
    tensor: Any  # None: freed, or behind a hook
    state: str = "held"
    versions: tuple[int, int] | None = None  # when saved and now, if they differ


class Reader:
    """Reads nodes and tensors; equal shapes and types become one object."""

    def __init__(self) -> None:
        self.outputs: dict[tuple, Output] = {}
        self.rows: dict[tuple[int, ...], tuple[Output, ...]] = {}
        self.dtypes: dict[Any, str] = {}

    def output(self, described: Any) -> Output:
        """Shape, dtype and device of a tensor or of an entry of `_input_metadata`."""
        key = shape_of(described), described.dtype, getattr(described, "device", "cpu")
        known = self.outputs.get(key)
        if known is None:
            shape = key[0] and tuple(map(int, key[0]))
            known = self.outputs[key] = Output(shape, dtype_name(key[1]), str(key[2]))
        return known

    def node_outputs(self, node: Any) -> tuple[Output, ...]:
        metadata = getattr(node, "_input_metadata", None)
        if not metadata:
            return NO_OUTPUT
        row = tuple([self.output(entry) for entry in metadata])
        return self.rows.setdefault(tuple(map(id, row)), row)

    def arguments(self, node: Any, kind: NodeType, kept: list[Kept]) -> tuple[tuple[str, Any], ...]:
        """The arguments that are no tensors, and those numbers that PyTorch keeps as 0-d tensors; lists of tensors are added to `kept`."""
        found = []
        for attribute in kind.plain:
            try:
                value = getattr(node, attribute)
            except RuntimeError:  # freed
                continue
            if is_tensor(value):
                value = constant(value)
            elif type(value) in (tuple, list) and any(map(is_tensor, value)):
                kept += [Kept(f"{attribute[7:]}[{place}]", item) for place, item in enumerate(value) if is_tensor(item)]
                continue
            if value is not None:
                found.append((attribute[7:], plain(value)))
        for slot, tensor, _, _ in kept:
            if tensor is not None and tensor.dim() == 0 and slot != "result":
                value = constant(tensor)
                if value is not None:
                    found.append((slot, value))
        return tuple(found)


def plain(value: Any) -> Any:
    """An argument as a person wrote it: PyTorch keeps dim=-1 as 2**64 - 1."""
    if type(value) is int:
        return value if value < 2**63 else value - 2**64
    if type(value) in (list, tuple):
        return tuple([plain(item) for item in value])
    return value if type(value) in (bool, float, str, complex) else dtype_name(value)


def constant(tensor: Any) -> Any:
    """The number in a 0-d tensor that takes no part in the graph."""
    return tensor.item() if tensor.dim() == 0 and not tensor.requires_grad and tensor.is_leaf else None


def read_value(tensor: Any) -> Value | None:
    """The numbers of a tensor in a short text, and how many are not finite; None where there is nothing to read (meta, nested)."""
    try:
        return _value(tensor.detach())
    except (RuntimeError, NotImplementedError):
        return None


def _value(tensor: Any) -> Value:
    number = tensor.numel()
    if number == 1:
        item = tensor.item()
        return Value(number_text(item), item, int(item != item), int(item in (float("inf"), float("-inf"))))
    nan, inf = (int(tensor.isnan().sum()), int(tensor.isinf().sum())) if number else (0, 0)
    if number <= FEW:
        return Value(list_text(tensor.tolist()), None, nan, inf)
    if not tensor.is_floating_point():
        return Value(f"{number} elements", None, nan, inf)
    whole = tensor if not (nan or inf) else tensor[tensor.isfinite()]
    if not whole.numel():
        return Value("none is finite", None, nan, inf)
    text = f"{number_text(whole.min().item())} … {number_text(whole.max().item())}, mean {number_text(whole.mean().item())}"
    return Value(text, None, nan, inf)


def number_text(number: Any) -> str:
    return f"{number:.4g}" if isinstance(number, (float, complex)) else str(number)


def list_text(items: Any) -> str:
    return f"[{', '.join(map(list_text, items))}]" if isinstance(items, list) else number_text(items)


def kept_tensors(node: Any, kind: NodeType) -> list[Kept]:
    """Return what a node keeps for backward, leaving alone what went through a pack hook."""
    found: list[Kept] = []
    for saved, raw in kind.tensors:
        slot = saved.removeprefix("_saved_")
        try:
            places = getattr(node, raw)
        except RuntimeError:
            found.append(Kept(slot, None, "freed"))
            continue
        if type(places) is not tuple:
            found += look_at(node, saved, (slot,), (places,))
        elif places:
            found += look_at(node, saved, [f"{slot}[{number}]" for number in range(len(places))], places)
    return found


def look_at(node: Any, saved: str, slots: Sequence[str], places: tuple) -> list[Kept]:
    """What lies in the places of one attribute of `node`."""
    try:
        hooked = [place.unpack_hook is not None for place in places]
    except AttributeError:  # an older PyTorch, which cannot tell what looking would run
        return [Kept(slot, None, "unread") for slot in slots]
    if True in hooked:
        pairs = zip(slots, places, hooked, strict=True)
        return [
            Kept(slot, None, "packed") if hook else Kept(slot, place.data) for slot, place, hook in pairs if hook or place.data is not None
        ]
    try:
        tensors = getattr(
            node, saved
        )  # no hook is here that this could run; and unlike `data`, it is safe while another thread runs backward
    except RuntimeError as error:
        versions = VERSIONS.search(str(error))
        if not versions:
            return [Kept(slots[0].partition("[")[0], None, "freed")]
        return [spoilt(slot, place.data, int(versions[2]), int(versions[1])) for slot, place in zip(slots, places, strict=True)]
    if type(tensors) not in (tuple, list):
        return [] if tensors is None else [Kept(slots[0], tensors)]
    return [Kept(slot, tensor) for slot, tensor in zip(slots, tensors, strict=True) if tensor is not None]


def spoilt(slot: str, tensor: Any, expected: int, now: int) -> Kept:
    """One of several tensors that were kept together, of which the one at version `now` was written to."""
    return Kept(slot, tensor, "held", (expected, now) if tensor is not None and tensor._version == now else None)


def shape_of(described: Any) -> tuple[int, ...] | None:
    """The sizes, None for a nested tensor, which has no common ones."""
    try:
        return tuple(described.shape)
    except RuntimeError:
        return None


def itemsize(dtype: str) -> int:
    """Bytes of one element: 4 for float32, 1 for bool."""
    bits = re.match(r"[a-z]+(\d+)", dtype)
    return int(bits[1]) // 8 if bits else 1


def custom_source(node: Any) -> Source | None:
    """Where a custom Function is defined."""
    forward = getattr(getattr(node, "_forward_cls", None), "forward", None)
    code = getattr(forward, "__code__", None)
    return Source(code.co_filename, code.co_firstlineno) if code else None
