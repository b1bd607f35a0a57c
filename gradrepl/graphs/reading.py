"""Read what one node or tensor tells of itself, without running or changing anything of the program. Imports model and protocol."""

from __future__ import annotations

import re
from typing import Any

from .model import Output, Saved, Source, Value
from .protocol import NodeType, is_tensor

VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
FREED = "a second time"
FEW = 12  # numbers that are shown in full
NO_OUTPUT = (Output(None),)


def dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class Reader:
    """Reads nodes and tensors; equal shapes and types become one object."""

    def __init__(self) -> None:
        self.outputs: dict[tuple, Output] = {}
        self.dtypes: dict[Any, str] = {}

    def output(self, described: Any) -> Output:
        """Shape, dtype and device of a tensor or of an entry of `_input_metadata`."""
        key = described.shape, described.dtype, getattr(described, "device", "cpu")
        known = self.outputs.get(key)
        if known is None:
            known = self.outputs[key] = Output(tuple(map(int, key[0])), dtype_name(key[1]), str(key[2]))
        return known

    def node_outputs(self, node: Any) -> tuple[Output, ...]:
        metadata = getattr(node, "_input_metadata", None)
        return tuple([self.output(entry) for entry in metadata]) if metadata else NO_OUTPUT

    def arguments(self, node: Any, kind: NodeType) -> tuple[tuple[str, Any], ...]:
        """The arguments that are no tensors, and those numbers that PyTorch keeps as 0-d tensors."""
        found = []
        for attribute in kind.plain:
            try:
                value = getattr(node, attribute)
            except RuntimeError:  # freed
                continue
            if is_tensor(value):
                value = constant(value)
                if value is None:
                    continue
            found.append((attribute[7:], plain(value)))
        return tuple(found)


def plain(value: Any) -> Any:
    """An argument as a person wrote it: PyTorch keeps dim=-1 as 2**64 - 1."""
    if type(value) is int:
        return value - 2**64 if value >= 2**63 else value
    if type(value) in (list, tuple):
        return tuple(plain(item) for item in value)
    if value is None or type(value) in (bool, float, str, complex):
        return value
    return dtype_name(value)


def constant(tensor: Any) -> Any:
    """The number in a 0-d tensor that takes no part in the graph."""
    return tensor.item() if tensor.dim() == 0 and not tensor.requires_grad and str(tensor.device) == "cpu" else None


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


class SavedReader:
    """Reads what nodes keep for backward. A pack hook's product is never unpacked."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def tensors(self, node: Any, kind: NodeType) -> list[tuple[str, Any, str, str]]:
        """Return (slot, tensor or None, state, fault)."""
        if kind.kind == "custom":
            return self._slots(node, "saved_tensors", "_raw_saved_tensors")
        return [found for saved, raw in kind.tensors for found in self._slots(node, saved, raw)]

    def _slots(self, node: Any, saved: str, raw: str) -> list[tuple[str, Any, str, str]]:
        slot = saved.removeprefix("_saved_")
        try:
            places = getattr(node, raw)
        except RuntimeError:
            return [(slot, None, "freed", "")]
        if isinstance(places, (tuple, list)):
            return [
                found
                for number, place in enumerate(places)
                for found in self._slot(f"{slot}[{number}]", place, node, saved, number)
            ]
        return self._slot(slot, places, node, saved, None)

    def _slot(self, slot: str, place: Any, node: Any, saved: str, number: int | None) -> list[tuple[str, Any, str, str]]:
        if not hasattr(place, "unpack_hook"):  # PyTorch before 2.8: no way to look without running hooks
            return [(slot, None, "packed", "")]
        if place.unpack_hook is not None:
            return [(slot, None, "packed", "")]
        tensor = place.data
        if tensor is not None and tensor._version == 0:
            return [(slot, tensor, "held", "")]
        try:  # nothing is hooked here, so that this runs nothing
            value = getattr(node, saved)
        except RuntimeError as error:
            return [(slot, tensor, *_state(str(error)))]
        if tensor is None and number is None and value is not None:  # nothing to look at beforehand
            tensor = value
        return [(slot, tensor, "held", "")] if tensor is not None else []


def _state(message: str) -> tuple[str, str]:
    found = VERSIONS.search(message)
    return ("held", f"{found[2]} {found[1]}") if found else ("freed", "")


def custom_source(node: Any) -> Source | None:
    """Where a custom Function is defined."""
    forward = getattr(getattr(node, "_forward_cls", None), "forward", None)
    code = getattr(forward, "__code__", None)
    return Source(code.co_filename, code.co_firstlineno) if code else None


__all__ = ["Reader", "Saved", "SavedReader", "custom_source", "read_value"]
