"""Multiply and add, rounded once: PyTorch's kernels do it in one instruction, NumPy in two. Imports NumPy, and SciPy for large arrays.

The product of two single-precision numbers is exact in double precision, so that the sum, rounded to single, is the fused one.
"""

import sys

import numpy as np

SINGLE, HALF, DOUBLE = np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.float64)
IMPORT, LOST = 150_000_000, [0]  # nanoseconds that BLAS takes to come, and that sums took longer without it
LARGE = 1 << 14  # elements from which BLAS, whose import takes as long as a few hundred of these sums, is worth it: 5 times as fast


def plus_product(x, a, b, out=None):
    """x + a * b of arrays of one dtype; `a` may be a number. `out` may be `x`."""
    if x.dtype is SINGLE or x.dtype is HALF:
        if isinstance(a, np.ndarray):
            total = np.multiply(a, b, dtype=DOUBLE)
        else:
            total = np.multiply(b, np.array(x.dtype.type(a), DOUBLE))
        total = np.add(total, x, total if total.shape == x.shape and x.ndim else None)
        return total.astype(x.dtype) if out is None else store(out, total)
    return np.add(x, np.multiply(a, b), out)


def store(out, values):
    out[...] = values
    return out


def add_scaled(x, factor, b):
    """x += factor * b in place, for arrays of one dtype and shape and a number."""
    if x.dtype.char in "fd" and x.size and x.flags.c_contiguous and b.flags.c_contiguous:
        if blas := sys.modules.get("scipy.linalg.blas") or blas_at_last(x.size):
            (blas.saxpy if x.dtype is SINGLE else blas.daxpy)(b.reshape(-1), x.reshape(-1), a=factor)
            return x
    return plus_product(x, factor, b, x)


def blas_at_last(size):
    """BLAS, imported for a large array, or when as much time went by without it as its import takes; else None."""
    LOST[0] += 2000 + size
    if size < LARGE and LOST[0] < IMPORT:
        return None
    from scipy.linalg import blas

    return blas
