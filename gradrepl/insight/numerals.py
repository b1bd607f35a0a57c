"""Numbers as a person writes them. Imports nothing of the project."""

from __future__ import annotations

from typing import Any

import numpy as np


class Summary:
    """What is kept of an array that is too large to keep: its shape and range. As an array it is the two ends of that."""

    __slots__ = ("shape", "low", "high")

    def __init__(self, array: Any):
        self.shape, self.low, self.high = array.shape, array.min(), array.max()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([self.low, self.high], dtype)

    def __str__(self) -> str:
        return f"{'×'.join(map(str, self.shape))} values from {number(self.low)} to {number(self.high)}"


def summarised(array: Any, most: int) -> Any:
    """A copy of a small array, a summary of a large one."""
    if array is None or array.size <= most:
        return None if array is None else array.copy()
    return Summary(array) if array.dtype.kind in "fiub" else None


def numbers(array: Any, most: int = 6) -> str:
    """A short array in full, [0, 1.5, -inf]; of a longer one its shape and range."""
    if array is None or array is False:
        return "?"
    if isinstance(array, Summary):
        return str(array)
    array = np.asarray(array)
    if array.size > most:
        shape = "×".join(map(str, array.shape))
        if array.dtype.kind == "c":
            return f"{shape} complex values"
        with np.errstate(invalid="ignore"):
            return f"{shape} values from {number(np.nanmin(array))} to {number(np.nanmax(array))}"
    return listed(array.tolist())


def listed(value: Any) -> str:
    return "[" + ", ".join(map(listed, value)) + "]" if isinstance(value, list) else number(value)


def number(value: Any) -> str:
    """Four digits at most: 3, 0.1667, 1e-05."""
    if isinstance(value, (complex, np.complexfloating)):
        return f"{value:.4g}"
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e6 else f"{value:.4g}"


def entry(array: Any, mask: Any) -> str:
    """The first place where the mask holds, as an index: "[0]", "[1, 2]"; "" for a single number."""
    places = np.argwhere(mask)
    if not len(places) or np.ndim(array) == 0:
        return ""
    return "[" + ", ".join(map(str, places[0].tolist())) + "]"


def array_of(tensor: Any) -> Any:
    """A tensor's values as an array, whichever engine it is of; None where NumPy has no such values."""
    if tensor is None:
        return None
    if isinstance(getattr(tensor, "array", None), np.ndarray):
        return tensor.array.copy()
    try:
        tensor = tensor.detach().cpu()
        return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).resolve_conj().numpy().copy()
    except (TypeError, RuntimeError):  # sparse, quantized, without storage
        return None


def counted(count: int, noun: str, several: str = "") -> str:
    """A number and what it counts.

    >>> counted(1, "node"), counted(2, "node"), counted(1, "tensor was", "tensors were")
    ('1 node', '2 nodes', '1 tensor was')
    """
    return f"{count} {noun if count == 1 else several or noun + 's'}"
