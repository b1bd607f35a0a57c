"""Norms of vectors, and what is made of them: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine import single
from gradrepl.engine.advice import warn_once
from gradrepl.engine.arguments import guard
from gradrepl.engine.declare import op
from gradrepl.engine.dims import as_dims, wrap_dim, wrap_dims
from gradrepl.engine.layout import tidied
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import FUNCTIONS, publish

inf = float("inf")


def norm_of(array, ord, axis, keepdims):
    """The p-norm over `axis`, of sizes only."""
    if ord == 2 and array.dtype is single.SINGLE:
        return single.euclidean(array, axis, keepdims)
    size = np.abs(array)
    if size.dtype == np.float32:
        return norm_of(size.astype(np.float64), ord, axis, keepdims).astype(np.float32)
    if ord in (inf, -inf):
        reduce = np.maximum.reduce if ord == inf else np.minimum.reduce
        return reduce(size, axis, keepdims=keepdims, **({"initial": 0} if ord == inf and not array.size else {}))
    if ord == 0:
        return np.add.reduce(size != 0, axis, size.dtype, keepdims=keepdims)
    if ord == 1:
        return np.add.reduce(size, axis, keepdims=keepdims)
    if ord == 2:
        return np.sqrt(np.add.reduce(size * size, axis, keepdims=keepdims))
    return np.add.reduce(size**ord, axis, keepdims=keepdims) ** (1.0 / ord)


@op("NormBackward1", self="norm_backward(grad, self, p, result, dim, keepdim)")
@tidied
def norm_dims(self, p, dim, keepdim=False):
    return norm_of(self, p, wrap_dims(dim, self.ndim), keepdim).astype(real_dtype(self), copy=False)


def real_dtype(array):
    return array.real.dtype


@op("LinalgVectorNormBackward0", self="vector_norm_backward(grad, self, ord, result, dim, keepdim)")
@tidied
def linalg_vector_norm(self, ord=2, dim=None, keepdim=False, dtype=None):
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {SCALARS[self.dtype.name]}")
    if dtype and dtype.array.itemsize < self.dtype.itemsize:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({SCALARS[self.dtype.name]}) should be convertible without narrowing to the "
            f"specified dtype ({SCALARS[dtype.array.name]})"
        )
    self = self.astype(dtype.array, copy=False) if dtype else self
    axis = wrap_dims(dim, self.ndim)
    if not self.size and (ord < 0 or ord == inf):
        check_identity(self.shape, ord, axis)
    wide = self.astype(np.float32) if self.dtype == np.float16 else self
    result = norm_of(wide, ord, axis, keepdim)
    return np.asarray(result).astype(wide.real.dtype if self.dtype != np.float16 else self.dtype, copy=False)


def check_identity(shape, ord, axis):
    """Extremes of nothing do not exist."""
    empty = [d for d in axis or () if not shape[d]]
    if axis is None or empty:
        where = "an empty tensor" if axis is None else f"the dimension {empty[0]}"
        why = "the operation" if axis is None else "this dimension is empty and the operation"
        space = " " if axis is None else ""  # as PyTorch writes it
        raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on {where}{space}because {why} does not have an identity")


def vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    """`torch.linalg.vector_norm`."""
    return linalg_vector_norm(self, ord, as_dims(dim), keepdim, dtype)


checked_norm = guard(vector_norm, "linalg_vector_norm", "linalg")


def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    """`torch.norm`, of everything or over dimensions; the Frobenius norm is the vector norm of order 2."""
    if p == "nuc":
        return FUNCTIONS["nuclear_norm"](self, dim if dim is not None else (-2, -1), keepdim)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return checked_norm(self, 2 if p == "fro" else 2.0 if p is None else p, dim, keepdim, dtype=dtype)


@op(
    "DistBackward0",
    self="norm_backward(grad, self - other, p, result)",
    other="-norm_backward(grad, self - other, p, result)",
    promote="self, other",
)
def dist_of(self, other, p=2):
    return norm_of(self - other, p, None, False)


def dist(self, other, p=2):
    return dist_of(self, other, p)


@op("RenormBackward0", self="renorm_backward(grad, self, p, dim, maxnorm)")
def renorm(self, p, dim, maxnorm):
    check_renorm(self, p, maxnorm)
    dim = wrap_dim(dim, self.ndim)
    others = tuple(d for d in range(self.ndim) if d != dim)
    size = norm_of(self, p, others, True)
    return (self * np.where(size > maxnorm, maxnorm / (size + 1e-7), 1)).astype(self.dtype)


FROBENIUS = (
    "at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. Please "
    "use `linalg.vector_norm(A, 2., dim, keepdim)` instead"
)


def frobenius_norm(self, dim=(), keepdim=False):
    warn_once(FROBENIUS, "LinearAlgebra.cpp:3175")
    return norm_dims(self, 2, as_dims(dim), keepdim)


def check_renorm(array, p, maxnorm):
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")


publish(globals(), both="norm dist renorm", functions="frobenius_norm", in_place="renorm")
