"""Python's data as arrays, with PyTorch's inference of shape and dtype and its complaints. Imports promotion, dtypes and tensor."""

import math

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.dtypes import OF_ARRAY, Default
from gradrepl.engine.promotion import promote
from gradrepl.engine.tensor import Tensor

SUPPORTED = "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool"
NEGATIVE_STRIDE = (
    "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can "
    "probably work around this by making a copy of your array  with array.copy().) "
)
SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single numpy.ndarray with "
    "numpy.array() before converting to a tensor."
)
WRONG_ORDER = (
    "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported."
)
NOT_WRITABLE = (
    "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this tensor will "
    "result in undefined behavior. You may want to copy the array to protect its data or make it writable before converting it to a "
    "tensor. This type of warning will be suppressed for the rest of this program."
)
NUMBERS = {float, int, bool, complex}


def supported(array):
    """The array, if a tensor can have its dtype and strides."""
    if array.dtype not in OF_ARRAY:
        if array.dtype.newbyteorder("=") in OF_ARRAY:
            raise ValueError(WRONG_ORDER)
        kind = array.dtype.type
        raise TypeError(f"can't convert np.ndarray of type {kind.__module__}.{kind.__name__}. The only supported types are: {SUPPORTED}.")
    if any(stride < 0 for stride in array.strides):
        raise ValueError(NEGATIVE_STRIDE)
    return array


def from_array(array):
    """An array on the same memory, for a tensor to stand on."""
    supported(array)
    if not array.flags.writeable:
        warn_once(NOT_WRITABLE, "torch/csrc/utils/tensor_numpy.cpp:213")
    # A tensor's storage starts where the user's slice does, not where the array behind it does.
    return np.asarray(memoryview(array)) if isinstance(array.base, np.ndarray) else array


def array_of(data, kind=None):
    """A fresh array with the values of a number, an array, or a nest of sequences of them, in dtype `kind` if given."""
    if isinstance(data, (np.ndarray, np.generic)):
        return supported(np.asarray(data)).astype(kind or data.dtype, copy=True)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    shape = shape_of(data)
    leaves = flat(data, shape)
    kinds = set(map(type, leaves))
    if not kinds <= NUMBERS:
        leaves, kind = plain(leaves, kind)
        kinds = set(map(type, leaves))
    kind = kind or inferred(kinds, leaves)
    return stored(leaves, kinds, kind).reshape(shape)


def is_sequence(value):
    return hasattr(type(value), "__getitem__") and hasattr(type(value), "__len__") and not isinstance(value, (dict, Tensor))


def shape_of(data):
    """The lengths along the first items, as PyTorch measures before it looks at anything else."""
    shape = []
    while type(data) not in NUMBERS and is_sequence(data):
        if isinstance(data, (np.ndarray, np.generic)):
            return (*shape, *data.shape)
        shape.append(len(data))
        if len(shape) > 128:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not shape[-1]:
            break
        data = data[0]
    return tuple(shape)


def flat(data, shape):
    """The leaves of a nest that must have this shape."""
    rows = [data]
    for dim, length in enumerate(shape):
        for row in rows:
            if not is_sequence(row):
                infer(row)
                raise TypeError("not a sequence")
            if len(row) != length:
                raise ValueError(f"expected sequence of length {length} at dim {dim} (got {len(row)})")
        if rows and isinstance(rows[0], np.ndarray) and dim:
            warn_once(SLOW, "torch/csrc/utils/tensor_new.cpp:252")
            return [item for row in rows for item in np.asarray(row).ravel()]
        rows = [item for row in rows for item in row]
    return rows


def infer(leaf):
    """The NumPy dtype of a leaf that is not a plain number."""
    if isinstance(leaf, (Tensor, np.ndarray, np.generic)):
        return leaf.array.dtype if isinstance(leaf, Tensor) else leaf.dtype
    if type(leaf) in NUMBERS:
        return inferred({type(leaf)}, (leaf,))
    if isinstance(leaf, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(leaf).__name__}'")
    if isinstance(leaf, (bool, int, float, complex)):  # a subclass, as enum members are
        return inferred({next(kind for kind in (bool, int, float, complex) if isinstance(leaf, kind))}, (leaf,))
    if is_sequence(leaf):
        return inferred({type(x) for x in leaf} & NUMBERS, leaf)
    raise RuntimeError(f"Could not infer dtype of {type(leaf).__name__}")


def plain(leaves, kind):
    """Tensors and NumPy's numbers among the leaves as Python's, and the dtype they ask for together."""
    if kind is None:
        wanted = [infer(leaf) for leaf in leaves]
        kind = wanted[0]
        for other in wanted[1:]:
            kind = promote(kind, other)
    return [single(leaf, kind) for leaf in leaves], kind


def single(leaf, kind):
    if isinstance(leaf, Tensor):
        if leaf.array.size != 1:
            if kind.kind in "iub":
                raise TypeError("only integer tensors of a single element can be converted to an index")
            raise ValueError("only one element tensors can be converted to Python scalars")
        return leaf.array.item()
    if isinstance(leaf, np.generic):
        return leaf.item()
    if type(leaf) not in NUMBERS:
        name = type(leaf).__name__
        raise TypeError(f"'{name}' object cannot be interpreted as an integer" if kind.kind in "iu" else f"must be real number, not {name}")
    return leaf


def inferred(kinds, leaves):
    """The dtype of plain numbers: the widest category among them; of nothing, the default."""
    if complex in kinds:
        return Default.complex
    if float in kinds or not len(leaves):
        return Default.float
    return np.dtype(np.int64 if int in kinds else bool)


def stored(leaves, kinds, kind):
    """Plain numbers in an array of `kind`; refused where they do not fit."""
    if kind.kind == "f" and complex in kinds:
        raise TypeError("must be real number, not complex")
    if kind.kind in "iu":
        leaves = [n if type(n) is int else whole(n, kind) for n in leaves] if kinds != {int} else leaves
        return fitting(leaves, kind)
    return np.array(leaves).astype(kind) if leaves else np.empty(0, kind)


def whole(number, kind):
    if isinstance(number, complex):
        raise TypeError("must be real number, not complex")
    if not math.isfinite(number):
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")
    return int(number)


def fitting(leaves, kind):
    """Whole numbers in an integer dtype. An unsigned one also takes negative numbers, and wraps them."""
    bounds = np.iinfo(kind)
    low, high = (min(leaves), max(leaves)) if leaves else (0, 0)
    if not -(2**63) <= low or not high < (2**64 if kind.name == "uint64" else 2**63):
        raise ValueError("Overflow when unpacking long long")
    if high > bounds.max or low < (-bounds.max if kind.kind == "u" else bounds.min):
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")
    return np.array(leaves, np.int64 if high < 2**63 else np.uint64).astype(kind)
