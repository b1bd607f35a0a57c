"""Choosing element by element without a branch for each, which NumPy's `where` takes: ten times as long where the choice is random.

Numbers are chosen by their bits, so that what is chosen is exact, signs of zeros and nan included. Imports NumPy only.
"""

import numpy as np

BITS = {n: np.dtype(f"i{n}") for n in (2, 4, 8)}  # the integers as wide as a number
FEW = 2048  # elements: below, a processor foretells the branches


def zeroed(array, gone):
    """The array with zeros where the condition holds."""
    bits = BITS[array.dtype.itemsize]
    kept = gone.astype(bits)
    kept -= 1
    kept &= array.view(bits)
    return kept.view(array.dtype)


def chosen(condition, inside, outside, dtype):
    """`inside` where the condition holds, `outside` elsewhere, in a dtype; both may be numbers."""
    bits = BITS.get(dtype.itemsize) if dtype.kind in "fiu" else None
    if bits is None or condition.size < FEW or condition.dtype.kind != "b":
        return np.where(condition, inside, outside).astype(dtype, copy=False)
    inside, outside = np.asarray(inside, dtype), np.asarray(outside, dtype)
    if not all([x.flags.c_contiguous and x.shape in ((), condition.shape) for x in (condition, inside, outside)]):
        return np.where(condition, inside, outside)
    mask, first, second = condition.astype(bits), inside.view(bits), outside.view(bits)
    np.negative(mask, mask)
    np.bitwise_and(mask, np.bitwise_xor(first, second), mask)
    return np.bitwise_xor(mask, second, mask).view(dtype)
