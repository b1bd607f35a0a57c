"""How arrays lie in memory: PyTorch's strides for copies, and arrays seen through other strides. Imports views."""

import functools

import numpy as np

from gradrepl.engine.dtypes import FORMATS
from gradrepl.engine.views import storage

CHANNELS_LAST = {"channels_last": (0, 2, 3, 1), "channels_last_3d": (0, 2, 3, 4, 1)}


def strided_as(array, shape, strides):
    """The elements of `array`'s memory from its first one, through other strides (in bytes)."""
    if array.flags.c_contiguous:
        return np.ndarray(shape, array.dtype, array, 0, strides)
    flat = storage(array)
    start = array.__array_interface__["data"][0] - flat.__array_interface__["data"][0]
    return np.ndarray(shape, array.dtype, flat, start, strides)


def compared(sizes, operands, first, second):
    """PyTorch's order of two dims: by the operands' strides, then by size; a stride of zero is not comparable."""
    for strides in operands:
        one, other = strides[first], strides[second]
        if one and other:
            if one != other:
                return 1 if one > other else -1
            if sizes[first] > sizes[second]:
                return 1
    return 0


def dense_order(sizes, *operands):
    """The dims from the innermost to the outermost, as a new result of these operands (given by their strides) keeps them."""
    order = list(range(len(sizes)))[::-1]
    for i in range(1, len(order)):
        at = i
        for before in range(i - 1, -1, -1):
            verdict = compared(sizes, operands, order[before], order[at])
            if verdict > 0:
                order[before], order[at], at = order[at], order[before], before
            elif verdict < 0:
                break
    return order


def in_order(array, outer_to_inner):
    """A copy whose memory runs through the dims in this order."""
    return array.transpose(outer_to_inner).copy().transpose(np.argsort(outer_to_inner))


def laid_out_like(array, result):
    """A copy of a result of the same shape as `array`, with the memory in the order of `array`'s."""
    if array.flags.c_contiguous:
        return result.copy()
    return in_order(result, dense_order(array.shape, array.strides)[::-1])


def dense(array):
    """A contiguous array with PyTorch's strides also where a size is 1."""
    return array.reshape(-1).reshape(array.shape) if array.flags.c_contiguous else array


def tidy(array):
    """An array made contiguous, as the results of PyTorch's reductions are, however their inputs lie."""
    if array.flags.c_contiguous and 1 not in array.shape:
        return array
    return dense(np.ascontiguousarray(array)) if array.ndim else array


def tidied(forward):
    """A forward whose results are contiguous."""

    @functools.wraps(forward)
    def contiguous(*args, **kwargs):
        result = forward(*args, **kwargs)
        return tuple([tidy(x) for x in result]) if type(result) is tuple else tidy(result) if type(result) is np.ndarray else result

    return contiguous


def copied(array, memory_format=None):
    """A copy laid out as a memory format asks; without one, as dense as possible in the order of the original."""
    name = format_name(memory_format)
    if name == "contiguous_format" or array.flags.c_contiguous and name == "preserve_format":
        return array.copy()
    if name in CHANNELS_LAST:
        return in_order(array.copy(), channels_last(name, array.ndim))
    return array.copy("K") if 0 not in array.strides else in_order(array, dense_order(array.shape, array.strides)[::-1])


def channels_last(name, ndim):
    """The order of the dims in memory for a format; refused for another number of them."""
    order = CHANNELS_LAST[name]
    if ndim != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {name} format")
    return order


def format_name(memory_format):
    name = "preserve_format" if memory_format is None else str(memory_format).removeprefix("torch.")
    if name not in FORMATS:
        raise TypeError(f"not a memory format: {memory_format!r}")
    return name


def suggested_format(array):
    """The memory format that strides look like: channels_last where they run through the channels first."""
    name = {4: "channels_last", 5: "channels_last_3d"}.get(array.ndim)
    if name is None or not array.size:
        return "contiguous_format"
    least = 0
    for dim in (1, *range(array.ndim - 1, 1, -1), 0):
        if array.strides[dim] < least or dim == 0 and least == array.strides[1]:
            return "contiguous_format"
        least = array.strides[dim] * max(array.shape[dim], 1)
    return name
