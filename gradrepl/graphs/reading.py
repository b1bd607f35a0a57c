"""Read what one node or tensor tells of itself, without running or changing anything of the program. Imports model and protocol."""

from __future__ import annotations

import cmath
import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from .model import Output, Source, Value
from .protocol import NodeType, is_tensor

VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
FEW = 12  # numbers that are shown in full
NO_OUTPUT = (Output(None),)
SIMPLE = frozenset((bool, int, float, complex, str, type(None)))


def dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class Kept(NamedTuple):
    """What is in one place where a node keeps a tensor for backward."""

    slot: str
    tensor: Any  # None: freed, or behind a hook
    state: str = "held"
    versions: tuple[int, int] | None = None  # when saved and now, if they differ


of_fields = partial(tuple.__new__, Kept)  # a Kept in a third of the time


class Reader:
    """Reads nodes and tensors; equal shapes and types, and equal arguments, become one object."""

    def __init__(self) -> None:
        self.rows: dict[tuple, tuple[Output, ...]] = {}
        self.known_arguments: dict[tuple, tuple[tuple[str, Any], ...]] = {}

    def row(self, described: Any) -> tuple[Output, ...]:
        """Shape, dtype and device of a tensor or of an entry of `_input_metadata`, as the outputs of a node that has no others."""
        try:
            device = described.device
            key = (*described.shape, described.dtype, device.type, device.index)
        except RuntimeError:  # a nested tensor has no common sizes
            key = None, described.dtype, device.type, device.index
        row = self.rows.get(key)
        if row is None:
            *shape, dtype, _, _ = key
            row = self.rows[key] = (Output(None if None in shape else tuple(map(int, shape)), dtype_name(dtype), str(device)),)
        return row

    def read(self, function: Any, kind: NodeType) -> tuple[tuple[Output, ...], list[Kept], tuple[tuple[str, Any], ...]]:
        """Return the outputs of a node, what it keeps for backward, and the arguments that are no tensors."""
        if kind.kind == "leaf":
            return self.row(variable_of(function)), [], ()
        kept = kept_tensors(function, kind) if kind.tensors else []
        return self.node_outputs(function), kept, self.arguments(function, kind, kept) if kept or kind.plain else ()

    def output(self, described: Any) -> Output:
        return self.row(described)[0]

    def node_outputs(self, node: Any) -> tuple[Output, ...]:
        metadata = getattr(node, "_input_metadata", None)
        if not metadata:
            return NO_OUTPUT
        if len(metadata) == 1:
            return self.row(metadata[0])
        row = tuple([self.output(entry) for entry in metadata])
        return self.rows.setdefault(row, row)

    def arguments(self, node: Any, kind: NodeType, kept: list[Kept]) -> tuple[tuple[str, Any], ...]:
        """The arguments that are no tensors, and those numbers that PyTorch keeps as 0-d tensors; lists of tensors are added to `kept`."""
        found = []
        for attribute in kind.plain:
            try:
                value = getattr(node, attribute)
            except RuntimeError:  # freed
                continue
            if type(value) not in SIMPLE:
                if is_tensor(value):
                    value = constant(value)
                elif type(value) in (tuple, list) and any(map(is_tensor, value)):
                    kept += [Kept(f"{attribute[7:]}[{place}]", item) for place, item in enumerate(value) if is_tensor(item)]
                    continue
            if value is not None:
                found.append((attribute[7:], plain(value)))
        for slot, tensor, _, _ in kept:
            if slot != "result" and tensor is not None and tensor.dim() == 0:
                value = constant(tensor)
                if value is not None:
                    found.append((slot, value))
        arguments = tuple(found)
        if len(arguments) == 1 and type(arguments[0][1]) is int:  # most: the alpha of an addition, a dim
            return self.known_arguments.setdefault(arguments, arguments)
        return arguments


def variable_of(function: Any) -> Any:
    """The leaf at the end of a path, which stands there itself where nothing but it was asked about."""
    return function if is_tensor(function) else function.variable


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
        return _value(tensor)
    except (RuntimeError, NotImplementedError):
        return None


def _value(tensor: Any) -> Value:
    number = tensor.numel()
    if number == 1:
        item = tensor.item()
        return Value(number_text(item), item, int(item != item), int(item in (float("inf"), float("-inf"))))
    if number <= FEW:
        items = tensor.tolist()
        numbers = list(flattened(items))
        return Value(list_text(items), None, sum(map(cmath.isnan, numbers)), sum(map(cmath.isinf, numbers)))
    tensor = tensor.detach()
    nan, inf = int(tensor.isnan().sum()), int(tensor.isinf().sum())
    if not tensor.is_floating_point():
        return Value(f"{number} elements", None, nan, inf)
    whole = tensor if not (nan or inf) else tensor[tensor.isfinite()]
    if not whole.numel():
        return Value("none is finite", None, nan, inf)
    text = f"{number_text(whole.min().item())} … {number_text(whole.max().item())}, mean {number_text(whole.mean().item())}"
    return Value(text, None, nan, inf)


def flattened(items: Any) -> Iterator[Any]:
    for item in items if isinstance(items, list) else [items]:
        yield from flattened(item) if isinstance(item, list) else (item,)


def number_text(number: Any) -> str:
    return f"{number:.4g}" if isinstance(number, (float, complex)) else str(number)


def list_text(items: Any) -> str:
    return f"[{', '.join(map(list_text, items))}]" if isinstance(items, list) else number_text(items)


def kept_tensors(node: Any, kind: NodeType) -> list[Kept]:
    """Return what a node keeps for backward, leaving alone what went through a pack hook."""
    found: list[Kept] = []
    for saved, raw, slot in kind.tensors:
        try:
            place = getattr(node, raw)
        except RuntimeError:
            found.append(Kept(slot, None, "freed"))
            continue
        if type(place) is tuple:
            found += look_at_all(node, slot, saved, place)
            continue
        kept = look_at(node, slot, saved, place)
        if kept is not None:
            found.append(kept)
    return found


def look_at(node: Any, slot: str, saved: str, place: Any) -> Kept | None:
    """What lies in the one place of an attribute of `node`."""
    try:
        if place.unpack_hook is not None:
            return Kept(slot, None, "packed")
    except AttributeError:  # an older PyTorch, which cannot tell what looking would run
        return Kept(slot, None, "unread")
    try:
        tensor = getattr(node, saved)  # no hook is here that this could run; and it is safe while another thread runs backward
    except RuntimeError as error:
        return spoilt(error, (slot,), (place,))[0]
    return None if tensor is None else of_fields((slot, tensor, "held", None))


def look_at_all(node: Any, slot: str, saved: str, places: tuple) -> list[Kept]:
    """What lies in the places of an attribute that keeps several tensors."""
    slots = [f"{slot}[{number}]" for number in range(len(places))]
    try:
        hooked = [place.unpack_hook is not None for place in places]
    except AttributeError:
        return [Kept(slot, None, "unread") for slot in slots]
    if True in hooked:
        pairs = zip(slots, places, hooked, strict=True)
        return [
            Kept(slot, None, "packed") if hook else Kept(slot, place.data) for slot, place, hook in pairs if hook or place.data is not None
        ]
    try:
        tensors = getattr(node, saved) if places else ()
    except RuntimeError as error:
        return spoilt(error, slots, places)
    return [Kept(slot, tensor) for slot, tensor in zip(slots, tensors, strict=True) if tensor is not None]


def spoilt(error: RuntimeError, slots: Sequence[str], places: Sequence[Any]) -> list[Kept]:
    """What could not be unpacked: it is freed, or one of the tensors was written to."""
    versions = VERSIONS.search(str(error))
    if not versions:
        return [Kept(slots[0].partition("[")[0], None, "freed")]
    now, expected = int(versions[1]), int(versions[2])
    found = [(slot, place.data) for slot, place in zip(slots, places, strict=True)]
    return [Kept(slot, data, "held", (expected, now) if data is not None and data._version == now else None) for slot, data in found]


@cache
def itemsize(dtype: str) -> int:
    """Bytes of one element: 4 for float32, 1 for bool."""
    bits = re.match(r"[a-z]+(\d+)", dtype)
    return int(bits[1]) // 8 if bits else 1


def custom_source(node: Any) -> Source | None:
    """Where a custom Function is defined; of the form that vmap made of it, where the user's own is."""
    function = getattr(node, "_forward_cls", None)
    forward = getattr(getattr(function, "_original", function), "forward", None)
    code = getattr(forward, "__code__", None)
    return Source(code.co_filename, code.co_firstlineno) if code else None
