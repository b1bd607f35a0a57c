"""Sorting, selecting by rank, finding and counting: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dims import require, wrap_dim
from gradrepl.engine.layout import dense, laid_out_like
from gradrepl.engine.ops import joining
from gradrepl.engine.ops.scattering import places
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.returns import named
from gradrepl.engine.selection import kth_place, smallest_places, sorted_places
from gradrepl.engine.tensor import Tensor, tensor_of

SELECTED = "value_selecting_reduction_backward(grad, dim, indices, self.sym_sizes(), {})"
SELECTION = dict(outputs="values, indices", differentiable="values", self=SELECTED.format(True))


def along_last(array, dim):
    """The array with `dim` last (a 0-d one as a single line), and what puts results back."""
    if not array.ndim:
        wrap_dim(dim, 0)
        return array.reshape(1), lambda result: result.reshape(())
    at = wrap_dim(dim, array.ndim)
    return np.moveaxis(array, at, -1), lambda result: np.ascontiguousarray(np.moveaxis(result, -1, at))


def order_of(lines, descending):
    """The stable order of each line; NaN is larger than everything."""
    if not descending:
        return lines.argsort(-1, kind="stable")
    return lines.shape[-1] - 1 - lines[..., ::-1].argsort(-1, kind="stable")[..., ::-1]


RUN = 16  # up to this length PyTorch's sort is stable anyway
BOUND = 5000  # above this many elements equal values keep their order: to follow the algorithm would take too long


def sorted_along(array, dim, descending, stable=True):
    require(array.dtype.kind != "c", " Sort does not support complex dtypes on CPU")
    lines, back = along_last(array, dim)
    order = order_of(lines, descending)
    if not stable and RUN < lines.shape[-1] and lines.size <= BOUND:
        found = lines[places(order, order.ndim - 1)]
        for line in np.argwhere(has_ties(found, True)):
            order[tuple(line)] = sorted_places(lines[tuple(line)].tolist(), LARGER if descending else SMALLER)
    return tuple([laid_out_like(array, back(x)) for x in (lines[places(order, order.ndim - 1)], order)])


@op("SortBackward0", **SELECTION)
def sort_op(self, dim=-1, descending=False):
    return sorted_along(self, dim, descending, False)


@op("SortBackward1", **SELECTION)
def sort_by(self, stable, dim=-1, descending=False):
    return sorted_along(self, dim, descending, bool(stable))


@op("TopkBackward0", **SELECTION)
def topk_op(self, k, dim=-1, largest=True, sorted=True):
    wrap_dim(dim, self.ndim)
    if self.dtype.kind in "bc":
        raise RuntimeError(f"topk does not support {'bool' if self.dtype.kind == 'b' else 'complex'} dtypes on CPU")
    lines, back = along_last(self, dim)
    require(0 <= k <= lines.shape[-1], "selected index k out of range")
    order = order_of(lines, largest)[..., : k + 1]
    found = np.take_along_axis(lines, order, -1)
    chosen = order[..., :k].copy()
    for line in np.argwhere(has_ties(found, sorted)):
        chosen[tuple(line)] = smallest_places(lines[tuple(line)].tolist(), k, LARGER if largest else SMALLER, sorted)
    return tuple([dense(back(x)) for x in (np.take_along_axis(lines, chosen, -1), chosen)])


def has_ties(ordered, sorted):
    """Which lines hold neighbours that are equal (or are not to be sorted): there the algorithm shows."""
    if not sorted:
        return np.ones(ordered.shape[:-1], bool)
    left, right = ordered[..., :-1], ordered[..., 1:]
    return ((left == right) | (left != left) & (right != right)).any(-1)


def LARGER(x, y):
    return (x != x and y == y) or x > y


def SMALLER(x, y):
    return (x == x and y != y) or x < y


@op("KthvalueBackward0", outputs="values, indices", differentiable="values", self=SELECTED.format("keepdim"))
def kthvalue_op(self, k, dim=-1, keepdim=False):
    at = wrap_dim(dim, self.ndim)
    require(not self.ndim or self.shape[at], f"kthvalue(): Expected reduction dim {at} to have non-zero size.", IndexError)
    lines, back = along_last(self, dim)
    require(1 <= k <= lines.shape[-1], f"kthvalue(): selected number k out of range for dimension {at}")
    if self.dtype.kind in "bc":
        raise NotImplementedError(f"\"kthvalue_cpu\" not implemented for '{SCALARS[self.dtype.name]}'")
    indices = np.empty((*lines.shape[:-1], 1), np.int64)
    for line in np.ndindex(lines.shape[:-1]):
        indices[line] = kth_place(lines[line].tolist(), k - 1)
    results = dense(back(np.take_along_axis(lines, indices, -1))), dense(back(indices))
    return results if keepdim or not self.ndim else tuple([x.squeeze(at) for x in results])


# ---- overloads


def order_given(order, stable, dim, descending):
    """dim and descending, as they may be given: by name only beside `stable`."""
    if stable is not None and order:
        raise TypeError("with stable= all arguments are given by name")
    return (*order, *(dim, descending)[len(order) :])


def sort(self, *order, stable: bool = None, dim=-1, descending=False):
    dim, descending = order_given(order, stable, dim, descending)
    return named("sort", sort_op(self, dim, descending) if stable is None else sort_by(self, stable, dim, descending))


def argsort(self, *order, stable: bool = None, dim=-1, descending=False):
    return tensor_of(sorted_along(self.array, *order_given(order, stable, dim, descending), bool(stable))[1])


def msort(self):
    return sort_op(self, 0, False)[0]


def topk(self, k, dim=-1, largest=True, sorted=True):
    return named("topk", topk_op(self, int(k), dim, largest, sorted))


def kthvalue(self, k, dim=-1, keepdim=False):
    return named("kthvalue", kthvalue_op(self, int(k), dim, keepdim))


# ---- unique


@op("Unique2Backward0", outputs="output, inverse, counts", differentiable="output", self="not_implemented('_unique2')")
def unique_flat(self, sorted=True, return_inverse=False, return_counts=False):
    if self.dtype.kind == "c":
        raise NotImplementedError(f"\"unique\" not implemented for '{SCALARS[self.dtype.name]}'")
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
    return values, inverse.reshape(self.shape), counts


@op("UniqueDimBackward0", outputs="output, inverse, counts", differentiable="output", self="not_implemented('unique_dim')")
def unique_along(self, dim, sorted=True, return_inverse=False, return_counts=False):
    return np.unique(self, return_inverse=True, return_counts=True, axis=wrap_dim(dim, self.ndim), equal_nan=False)


@op(
    "UniqueDimConsecutiveBackward0",
    outputs="output, inverse, counts",
    differentiable="output",
    self="not_implemented('unique_dim_consecutive')",
)
def unique_neighbours_along(self, dim, return_inverse=False, return_counts=False):
    at = wrap_dim(dim, self.ndim)
    lines = np.moveaxis(self, at, 0)
    values, inverse, counts = neighbours(lines, lambda x, y: (x != y).reshape(len(x), -1).any(1))
    return np.ascontiguousarray(np.moveaxis(values, 0, at)), inverse, counts


@op("UniqueConsecutiveBackward0", outputs="output, inverse, counts", differentiable="output", self="not_implemented('unique_consecutive')")
def unique_neighbours(self, return_inverse=False, return_counts=False):
    values, inverse, counts = neighbours(self.reshape(-1), np.not_equal)
    return values, inverse.reshape(self.shape), counts


def neighbours(items, differ):
    """Runs of equal items: the first of each, the run every item is in, and the length of each."""
    starts = np.concatenate([np.ones(min(len(items), 1), bool), differ(items[1:], items[:-1])])
    inverse = np.cumsum(starts) - 1
    return items[starts], inverse, np.bincount(inverse, minlength=int(starts.sum()))


def wanted(results, return_inverse, return_counts):
    values, inverse, counts = results
    found = (values, *(inverse,) * bool(return_inverse), *(counts,) * bool(return_counts))
    return found if len(found) > 1 else values


def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    results = unique_flat(self, sorted) if dim is None else unique_along(self, dim, sorted)
    return wanted(results, return_inverse, return_counts)


@op("UniqueBackward0", outputs="output, inverse", differentiable="output", self="not_implemented('_unique')")
def _unique(self, sorted=True, return_inverse=False):
    values, inverse = np.unique(self, return_inverse=True, equal_nan=False)
    return values, inverse.reshape(self.shape) if return_inverse else np.empty(0, np.int64)


def _unique2(self, sorted=True, return_inverse=False, return_counts=False):
    values, inverse, counts = unique_flat(self, sorted)
    nothing = tensor_of(np.empty(0, np.int64))
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    results = unique_neighbours(self) if dim is None else unique_neighbours_along(self, dim)
    return wanted(results, return_inverse, return_counts)


# ---- finding and counting


def check_search(sequence, values, side, right, sorter):
    name = "torch.searchsorted()"
    require(side in (None, "left", "right"), f"{name}: side can only be 'left' or 'right' but got {side}")
    opposites = f"{name}: side and right can't be set to opposites, got side of {side} while right was True"
    require(not (right and side == "left"), opposites)
    if sorter is not None:
        require(sorter.dtype == np.int64, name + ": sorter must be a tensor of long dtype but got dtype {}", of=(sorter,))
        if sorter.shape != sequence.shape:
            raise RuntimeError(
                f"{name}: boundary and sorter must have the same size, but got boundary "
                f"tensor {list(sequence.shape)}and got sorter tensor {list(sorter.shape)}"
            )
    if not values.ndim and sequence.ndim != 1:
        raise RuntimeError(
            f"{name}: input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor "
            f"dim({sequence.ndim}) and input value's dim({values.ndim}) numel({values.size})"
        )
    require(sequence.ndim, f"{name}: boundaries tensor should have positive dimension, but got 0 dimension")
    if sequence.ndim != 1 and (sequence.ndim != values.ndim or sequence.shape[:-1] != values.shape[:-1]):
        raise RuntimeError(
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must "
            f"match, but we got boundaries tensor {list(sequence.shape)} and input value tensor {list(values.shape)}"
        )


def places_in(sequence, values, side):
    if sequence.ndim == 1:
        return np.asarray(np.searchsorted(sequence, values, side))
    found = np.empty(values.shape, np.int64)
    for line in np.ndindex(sequence.shape[:-1]):
        found[line] = np.searchsorted(sequence[line], values[line], side)
    return found


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    sequence = sorted_sequence.array
    values = input.array if isinstance(input, Tensor) else np.asarray(input, None if isinstance(input, int) else sequence.dtype)
    check_search(sequence, values, side, right, None if sorter is None else sorter.array)
    if sorter is not None:
        sequence = np.take_along_axis(sequence, sorter.array, -1)
    found = places_in(sequence, values, side or ("right" if right else "left"))
    return tensor_of(found.astype(np.int32 if out_int32 else np.int64))


def bucketize(input, boundaries, *, out_int32=False, right=False):
    require(boundaries.array.ndim == 1, f"boundaries tensor must be 1 dimension, but got dim({boundaries.array.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    arrays = [x.array if isinstance(x, Tensor) else np.asarray(x) for x in (elements, test_elements)]
    return tensor_of(np.isin(*arrays, invert=invert))


def nonzero(self, *, as_tuple=False):
    array = self.array
    if as_tuple:
        return joining.unbind(tensor_of(np.array(np.nonzero(array if array.ndim else array.reshape(1))).T), 1)
    found = np.array(np.nonzero(array)) if array.ndim else np.zeros((0, int(bool(array))), np.int64)
    return tensor_of(found.T)


def nonzero_static(self, *, size, fill_value=-1):
    require(size >= 0, f"nonzero_static: 'size' must be an non-negative integer, but got {size}")
    found = np.argwhere(self.array)[:size]
    out = np.full((size, found.shape[1]), fill_value, np.int64)
    out[: len(found)] = found
    return tensor_of(out)


def unravel_index(indices, shape):
    """The places in a shape that flat places stand for, a tensor per dim."""
    kind = indices.array.dtype.kind
    require(kind in "iu", f"expected 'indices' to be integer dtype, but got {indices.dtype}", TypeError)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    require(all(n >= 0 for n in shape), f"'shape' cannot have negative values, but got {shape}", ValueError)
    steps = np.cumprod((1, *shape[:0:-1]))[::-1]
    return joining.unbind(tensor_of(indices.array[..., None] // steps % np.array(shape, np.int64)), -1)


def argwhere(self):
    return nonzero(self)


publish(
    globals(),
    both="sort argsort msort topk kthvalue unique unique_consecutive nonzero nonzero_static argwhere isin",
    functions="searchsorted bucketize unravel_index _unique _unique2 unique_dim:unique_along",
)
