"""Joining tensors and splitting them: declarations, 2-5 lines each."""

import functools
import itertools

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.declare import op
from gradrepl.engine.dims import lead, require, wrap_dim
from gradrepl.engine.dtypes import Default
from gradrepl.engine.ops.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand_sizes,
    flatten,
    reshape_to,
    slice_dim,
    view_sizes,
)
from gradrepl.engine.promotion import SCALARS, common
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of

VIEWS = dict(view=True, outputs="*")


def common_dtype(arrays):
    """The type PyTorch gives to a list of tensors."""
    first = arrays[0].dtype
    if all(x.dtype is first for x in arrays):
        return first
    return functools.reduce(lambda x, y: np.empty((1,) * min(1, max(x.ndim, y.ndim)), common(x, y)), arrays).dtype


def is_skipped(array):
    """cat ignores 1-D tensors without elements, whatever the others' shape."""
    return array.ndim == 1 and array.size == 0


@op("CatBackward0", tensors="cat_tensors_backward(grad, tensors.sym_sizes(), tensors.dtype, dim)")
def cat_op(tensors: list, dim=0):
    kept = [(i, x) for i, x in enumerate(tensors) if not is_skipped(x)]
    dtype = common_dtype(tensors)
    if not kept:
        return np.empty(0, dtype)
    (_, first), *others = kept
    at = wrap_dim(dim, first.ndim)
    for i, x in others:
        require(x.ndim == first.ndim, f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for d, (n, m) in enumerate(zip(first.shape, x.shape)):
            if n != m and d != at:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. "
                    f"Expected size {n} but got size {m} for tensor number {i} in the list."
                )
    shape = (*first.shape[:at], sum(x.shape[at] for _, x in kept), *first.shape[at + 1 :])
    return np.concatenate([x for _, x in kept], at, out=np.empty(shape, dtype), casting="unsafe")


@op("StackBackward0", tensors="stack_tensors_backward(grad, dim, tensors.dtype)")
def stack_op(tensors: list, dim=0):
    shape = tensors[0].shape
    at = wrap_dim(dim, len(shape) + 1)
    for i, x in enumerate(tensors):
        if x.shape != shape:
            sizes = f"{list(shape)} at entry 0 and {list(x.shape)} at entry {i}"
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {sizes}")
    raised = (*lead(at), None)
    whole = np.empty((*shape[:at], len(tensors), *shape[at:]), common_dtype(tensors))
    return np.concatenate([x[raised] for x in tensors], at, out=whole, casting="unsafe")


@op("BlockDiagBackward0", tensors="block_diag_backward(grad, tensors.sym_sizes(), tensors.dtype)")
def block_diag_op(tensors: list):
    blocks = [np.atleast_2d(x) for x in tensors]
    out = np.zeros(np.sum([b.shape for b in blocks], 0), common_dtype(tensors))
    row = column = 0
    for block in blocks:
        out[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return out


@op("UnbindBackward0", self="unbind_backward(grads, dim)", **VIEWS)
def unbind(self, dim=0):
    if not self.ndim:
        raise IndexError(f"Dimension specified as {wrap_dim(dim, 0)} but tensor has no dimensions")
    before = lead(wrap_dim(dim, self.ndim))
    return [self[(*before, i, ...)] for i in range(self.shape[dim])]


@op("SplitBackward0", self="split_backward(grads, split_size, dim, self.sym_sizes())", **VIEWS)
def split_equal(self, split_size, dim=0):
    return pieces(self, split_size, dim)


@op("UnsafeSplitBackward0", self="split_backward(grads, split_size, dim, self.sym_sizes())", outputs="*")
def unsafe_split_equal(self, split_size, dim=0):
    return [piece.copy() for piece in pieces(self, split_size, dim)]


@op("SplitWithSizesBackward0", self="split_with_sizes_backward(grads, split_sizes, dim, self.sym_sizes())", **VIEWS)
def split_sizes_op(self, split_sizes, dim=0):
    return pieces_of(self, split_sizes, dim)


@op("UnsafeSplitWithSizesBackward0", self="split_with_sizes_backward(grads, split_sizes, dim, self.sym_sizes())", outputs="*")
def unsafe_split_sizes_op(self, split_sizes, dim=0):
    return [piece.copy() for piece in pieces_of(self, split_sizes, dim)]


def pieces(array, split_size, dim):
    require(array.ndim, "split expects at least a 1-dimensional tensor")
    require(split_size >= 0, f"split expects split_size be non-negative, but got split_size={split_size}")
    before = lead(wrap_dim(dim, array.ndim))
    size = array.shape[dim]
    require(split_size or not size, f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    return [array[(*before, slice(i, i + split_size))] for i in range(0, size or 1, split_size or 1)]


def pieces_of(array, split_sizes, dim):
    require(array.ndim, "split expects at least a 1-dimensional tensor")
    before = lead(wrap_dim(dim, array.ndim))
    require(
        all(n >= 0 for n in split_sizes),
        f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(split_sizes)}",
    )
    if sum(split_sizes) != array.shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {array.shape[dim]} (input tensor's size at dimension {dim}), but got "
            f"split_sizes={list(split_sizes)}"
        )
    ends = list(itertools.accumulate(split_sizes))
    return [array[(*before, slice(end - n, end))] for n, end in zip(split_sizes, ends)]


# ---- overloads


def tensors_of(tensors, name, argument="tensors"):
    """The list a joining function was given, each a tensor."""
    if isinstance(tensors, Tensor) or not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument '{argument}' (position 1) must be tuple of Tensors, not {type(tensors).__name__}")
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    return tensors


def cat(tensors, dim=0, axis=None):
    tensors = tensors_of(tensors, "cat")
    require(tensors, "torch.cat(): expected a non-empty list of Tensors", ValueError)
    for i, x in enumerate(tensors):
        require(x.array.ndim, f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    return cat_op(tensors, dim if axis is None else axis)


def stack(tensors, dim=0):
    tensors = tensors_of(tensors, "stack")
    require(tensors, "stack expects a non-empty TensorList")
    return stack_op(tensors, dim)


def joined(name, widen):
    """hstack and its like: cat after giving every tensor enough dims."""

    def call(tensors):
        tensors = tensors_of(tensors, name)
        require(tensors, f"{name} expects a non-empty TensorList")
        return cat(*widen(tensors))

    call.__name__ = name
    return call


def side_by_side(tensors):
    tensors = atleast_1d(*tensors) if len(tensors) > 1 else (atleast_1d(tensors[0]),)
    return tensors, 0 if tensors[0].array.ndim == 1 else 1


def widened(function):
    return lambda tensors: [function(x) for x in tensors]


hstack = joined("hstack", side_by_side)
vstack = joined("vstack", lambda tensors: (widened(atleast_2d)(tensors), 0))
dstack = joined("dstack", lambda tensors: (widened(atleast_3d)(tensors), 2))
column_stack = joined("column_stack", lambda tensors: ([as_column(x) for x in tensors], 1))


def as_column(tensor):
    return reshape_to(tensor, (tensor.array.size, 1)) if tensor.array.ndim <= 1 else tensor


def block_diag(*tensors):
    for i, x in enumerate(tensors):
        if x.array.ndim > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {x.array.ndim} dimensions")
    return block_diag_op(tensors) if tensors else tensor_of(np.zeros((1, 0), Default.float))


def split(self, split_size_or_sections=None, dim=0, split_size=None, split_sizes=None):
    sections = next((v for v in (split_size_or_sections, split_size, split_sizes) if v is not None), None)
    if sections is None:
        raise TypeError("split() missing 1 required positional argument: 'split_size_or_sections'")
    if not isinstance(dim, int):
        from gradrepl.engine.signatures import bound_arguments, signatures

        options = (
            signatures("functions", "split_with_sizes")
            if isinstance(sections, (tuple, list))
            else signatures("variable_functions", "split")
        )
        bound_arguments(options, (self, sections, dim), {})
    if isinstance(sections, (tuple, list)):
        return split_sizes_op(self, tuple(map(int, sections)), dim)
    if not hasattr(sections, "__index__"):
        raise TypeError(f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not {type(sections).__name__}")
    return split_equal(self, int(sections), dim)


def split_with_sizes(self, split_sizes, dim=0):
    return split_sizes_op(self, tuple(split_sizes), dim)


def unsafe_split(self, split_size, dim=0):
    return unsafe_split_equal(self, split_size, dim)


def unsafe_split_with_sizes(self, split_sizes, dim=0):
    return unsafe_split_sizes_op(self, tuple(split_sizes), dim)


def chunked(equal, sized):
    def call(self, chunks, dim=0):
        require(self.array.ndim, "chunk expects at least a 1-dimensional tensor")
        require(chunks > 0, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
        size = self.array.shape[wrap_dim(dim, self.array.ndim)]
        if not size:
            return sized(self, (0,) * chunks, dim)
        return equal(self, -(-size // chunks), dim)

    return call


chunk, unsafe_chunk = chunked(split_equal, split_sizes_op), chunked(unsafe_split_equal, unsafe_split_sizes_op)


def tensor_split(self, indices_or_sections=None, dim=0, *, sections=None, indices=None, tensor_indices_or_sections=None):
    where = next(v for v in (indices_or_sections, sections, indices, tensor_indices_or_sections) if v is not None)
    ndim = self.array.ndim
    require(ndim, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    if isinstance(where, Tensor):
        kind = SCALARS[where.array.dtype.name]
        require(kind == "Long", f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {kind}")
        if where.array.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor "
                f"with {where.array.ndim} dims"
            )
        where = where.tolist()
    size = self.array.shape[wrap_dim(dim, ndim)]
    if isinstance(where, (tuple, list)):
        bounds = [0, *where, size]
    else:
        require(where > 0, f"number of sections must be larger than 0, got {where}")
        least, more = divmod(size, where)
        bounds = list(itertools.accumulate([0] + [least + (i < more) for i in range(where)]))
    return tuple([slice_dim(self, dim, start, end, 1) for start, end in itertools.pairwise(bounds)])


def splitting(name, least, dim_of):
    """hsplit and its like: tensor_split in a fixed dim, into equal parts."""

    def call(self, indices_or_sections):
        ndim = self.array.ndim
        require(ndim >= least, f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {ndim} dimensions!")
        dim = dim_of(ndim)
        if isinstance(indices_or_sections, int):
            n, size = indices_or_sections, self.array.shape[dim]
            if not n or size % n:
                raise RuntimeError(
                    f"torch.{name} attempted to split along dimension {dim}, "
                    f"but the size of the dimension {size} is not divisible by the split_size {n}!"
                )
        return tensor_split(self, indices_or_sections, dim)

    call.__name__ = name
    return call


hsplit = splitting("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
vsplit = splitting("vsplit", 2, lambda ndim: 0)
dsplit = splitting("dsplit", 3, lambda ndim: 2)


def meshgrid(*tensors, indexing=None):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.", "TensorShape.cpp:4215")
    require(tensors, "meshgrid expects a non-empty TensorList")
    for x in tensors:
        require(x.array.dtype == tensors[0].array.dtype, "meshgrid expects all tensors to have the same dtype")
        require(x.array.ndim <= 1, f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x}")
    require(indexing in (None, "ij", "xy"), f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) > 1
    tensors = [tensors[1], tensors[0], *tensors[2:]] if swap else tensors
    sizes = tuple([x.array.size for x in tensors])
    ones = [(1,) * i + (n,) + (1,) * (len(sizes) - i - 1) for i, n in enumerate(sizes)]
    grids = [expand_sizes(view_sizes(x, one), sizes) for x, one in zip(tensors, ones)]
    return (grids[1], grids[0], *grids[2:]) if swap else tuple(grids)


def check_vectors(tensors):
    for x in tensors:
        require(x.array.ndim == 1, f"Expect a 1D vector, but got shape {list(x.array.shape)}")


def cartesian_prod(*tensors):
    check_vectors(tensors)
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(g) for g in meshgrid(*tensors, indexing="ij")], 1)


def combinations(input, r=2, with_replacement=False):
    check_vectors([input])
    require(r >= 0, f"Expect a non-negative number, but got {r}")
    if r == 0:
        return tensor_of(input.array[:0].copy())
    grids = meshgrid(*[input] * r, indexing="ij")
    order = np.indices((input.array.size,) * r)
    rising = [order[i] <= order[i + 1] if with_replacement else order[i] < order[i + 1] for i in range(r - 1)]
    mask = functools.reduce(np.logical_and, rising, np.ones(order.shape[1:], bool))
    return stack([Tensor.masked_select(g, tensor_of(mask)) for g in grids], 1)


publish(
    globals(),
    both="unbind split split_with_sizes unsafe_split unsafe_split_with_sizes chunk unsafe_chunk tensor_split hsplit vsplit dsplit",
    functions="""cat concat:cat concatenate:cat stack hstack vstack row_stack:vstack dstack column_stack block_diag meshgrid
        cartesian_prod combinations""",
)
