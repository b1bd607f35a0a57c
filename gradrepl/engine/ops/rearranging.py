"""Repeating, turning and masking by place: flip, roll, repeat, tril, diag and their like. Declarations, 2-5 lines each."""

import math

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dims import distinct_dims, ints, require, sizes_of, wrap_dim
from gradrepl.engine.layout import laid_out_like
from gradrepl.engine.ops.pointwise import clone, copy_
from gradrepl.engine.ops.shapes import (
    as_strided,
    diagonal_of,
    expand_sizes,
    flatten,
    select,
    slice_dim,
    unsafe_view,
    unsqueeze,
    view_sizes,
)
from gradrepl.engine.ops.shapes import (
    diagonal as diagonal_view,
)
from gradrepl.engine.ops.view_copies import copying
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of
from gradrepl.engine.views import offset


@op("FlipBackward0", self="grad.flip(dims)")
def flip_dims(self, dims):
    wrapped = distinct_dims(dims, self.ndim)
    return laid_out_like(self, np.flip(self, wrapped if self.ndim else ()))


@op("RollBackward0", self="roll_op(grad, tuple([-s for s in shifts[::-1]]), dims[::-1])")
def roll_op(self, shifts, dims):
    if not self.size:
        return self.copy()
    dims = [wrap_dim(d, self.ndim) for d in dims]
    if not self.ndim:
        return self.copy()
    return np.ascontiguousarray(np.roll(self, shifts, dims) if dims else np.roll(self, shifts[0]))


@op("Rot90Backward0", self="rot90_op(grad, -k, dims)")
def rot90_op(self, k, dims):
    require(len(dims) == 2, f"expected total rotation dims == 2, but got dims = {len(dims)}")
    require(self.ndim >= 2, f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = dims
    different = first != second and abs(first - second) != self.ndim
    require(different, f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}")
    turned = np.rot90(self, k, [wrap_dim(d, self.ndim) for d in dims])
    return turned.copy("K") if k % 2 else turned.copy()


@op("RepeatBackward0", self="repeat_backward(grad, repeats, self.sym_sizes())")
def repeat_sizes(self, repeats):
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = [n * r for n, r in zip((1,) * (len(repeats) - self.ndim) + self.shape, repeats)]
    bad = next((n for n in shape if n < 0), None)
    require(bad is None, f"Trying to create tensor with negative dimension {bad}: {shape}")
    return np.tile(np.ascontiguousarray(self), repeats).reshape(shape) if math.prod(repeats) else np.zeros(shape, self.dtype)


def check_triangle(array, name):
    require(array.ndim >= 2, f"{name}: input tensor must have at least 2 dimensions")


@op("TrilBackward0", self="grad.tril(diagonal)")
def tril(self, diagonal=0):
    check_triangle(self, "tril")
    return np.tril(self, diagonal)


@op("TriuBackward0", self="grad.triu(diagonal)")
def triu(self, diagonal=0):
    check_triangle(self, "triu")
    return np.triu(self, diagonal)


@op("DiagEmbedBackward0", self="grad.diagonal(offset, dim1, dim2)")
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    ndim = self.ndim + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    require(first != second, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    width = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, width)
    out = np.zeros(shape, self.dtype)
    diagonal_of(out, offset, first, second)[...] = self
    return out


@op("TraceBackward0", self="trace_backward(grad, self.sym_sizes())")
def trace_of(self):
    require(self.ndim == 2, f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return np.trace(self, dtype=np.int64 if self.dtype.kind in "biu" else self.dtype)


# ---- overloads


def flip(self, *dims, **named):
    return flip_dims(self, sizes_of(dims, named))


def fliplr(self):
    require(self.array.ndim >= 2, "Input must be >= 2-d.")
    return flip_dims(self, (1,))


def flipud(self):
    require(self.array.ndim >= 1, "Input must be >= 1-d.")
    return flip_dims(self, (0,))


def roll(self, shifts, dims=()):
    shifts, dims = ints(shifts), () if dims is None else ints(dims)
    require(shifts, "`shifts` required")
    require(self.array.ndim or not dims, f"Dimension specified as {next(iter(dims), 0)} but tensor has no dimensions", IndexError)
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return roll_op(self, shifts, dims)


def rot90(self, k=1, dims=(0, 1)):
    return rot90_op(self, k, tuple(dims))


def repeat(self, *repeats, **named):
    return repeat_sizes(self, sizes_of(repeats, named))


def tile(self, *dims, **named):
    dims = sizes_of(dims, named)
    return repeat_sizes(self, (1,) * (self.array.ndim - len(dims)) + dims)


def counts_of(repeats):
    """How often each place is repeated -> the places."""
    counts = repeats.array
    require(counts.ndim == 1, "repeat_interleave only accept 1D vector as repeat")
    if counts.dtype.name not in ("int32", "int64"):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{SCALARS[counts.dtype.name]}'")
    require(not (counts < 0).any(), "repeats can not be negative")
    return tensor_of(np.repeat(np.arange(counts.size, dtype=counts.dtype), counts))


def repeat_interleave(self, repeats=None, dim=None, *, output_size=None):
    if repeats is None:
        return counts_of(self)
    if dim is None:
        self, dim = flatten(self), 0
    at = wrap_dim(dim, self.array.ndim)
    if isinstance(repeats, (Tensor, list, tuple)):
        return repeat_by(self, repeats if isinstance(repeats, Tensor) else tensor_of(np.asarray(repeats)), at)
    n = repeats
    require(n >= 0, "Repeats must be non-negative")
    shape = self.array.shape
    wide = expand_sizes(unsqueeze(self, at + 1), (*shape[: at + 1], n, *shape[at + 1 :]))
    return view_sizes(clone(wide, "contiguous_format"), (*shape[:at], shape[at] * n, *shape[at + 1 :]))


def repeat_by(self, repeats, dim):
    require(repeats.array.ndim <= 1, "repeats must be 0-dim or 1-dim tensor")
    if repeats.array.size == 1:
        repeats = tensor_of(np.broadcast_to(repeats.array, self.array.shape[dim]))
    if repeats.array.size != self.array.shape[dim]:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.array.size} and "
            f"input.size({dim}) = {self.array.shape[dim]}"
        )
    return self.index_select(dim, counts_of(repeats))


def diag(self, diagonal=0):
    ndim = self.array.ndim
    require(ndim in (1, 2), f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return diag_embed(self, diagonal) if ndim == 1 else diagonal_copy(self, diagonal)


def diagflat(self, offset=0):
    return diag_embed(view_sizes(self.contiguous(), (self.array.size,)), offset)


def kron(self, other):
    """The Kronecker product, as one multiplication of tensors whose dims alternate."""
    ndim = max(self.array.ndim, other.array.ndim)
    a, b = ((1,) * (ndim - x.array.ndim) + x.array.shape for x in (self, other))
    left = unsafe_view(self, tuple(n for size in a for n in (size, 1)))
    right = unsafe_view(other, tuple(n for size in b for n in (1, size)))
    return unsafe_view(left * right, tuple(n * m for n, m in zip(a, b)))


def vander(x, N=None, *, increasing=False):
    require(x.payload.ndim == 1, "x must be a one-dimensional tensor.")
    count = x.array.size if N is None else N
    result = tensor_of(
        np.zeros((x.array.size, count), np.promote_types(x.array.dtype, np.int64) if x.array.dtype.kind in "biu" else x.array.dtype)
    )
    if count > 0:
        select(result, 1, 0).fill_(1)
    if count > 1:
        copy_(slice_dim(result, 1, 1), unsqueeze(x, 1))
        copy_(slice_dim(result, 1, 1), slice_dim(result, 1, 1).cumprod(1))
    return result if increasing else flip_dims(result, (1,))


def fill_diagonal_(self, fill_value, wrap=False):
    array = self.array
    require(array.ndim >= 2, "dimensions must larger than 1")
    require(len(set(array.shape)) == 1 or array.ndim == 2, "all dimensions of input must be of equal length")
    strides = [s // array.itemsize for s in array.strides]
    rows, columns = array.shape[:2]
    as_strided(self, (min(array.shape),), (sum(strides),)).fill_(fill_value)
    if wrap and array.ndim == 2 and rows > columns + 1:
        size = -(-(array.size - (columns + 1) * columns) // (columns + 1))
        as_strided(self, (size,), (sum(strides),), offset(array) + strides[0] * (columns + 1)).fill_(fill_value)
    return self


diagonal_copy = copying(diagonal_view)

publish(
    globals(),
    both="roll rot90 tril triu trace:trace_of diag_embed diag diagflat kron flip fliplr flipud tile repeat_interleave",
    functions="vander diagonal_copy",
    methods="repeat fill_diagonal_",
    in_place="tril triu",
)
