"""Histograms: how many values, or how much weight, falls between edges, in one dimension or several."""

import numpy as np

from gradrepl.engine.dims import require
from gradrepl.engine.factories import spaced
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.returns import named
from gradrepl.engine.tensor import Tensor, tensor_of

NAME = "torch.histogramdd"
WEIGHT_SHAPE = (
    "if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got input with "
    "shape {} and weight with shape {}"
)


def histc(self, bins=100, min=0, max=0):
    array = self.array
    if array.dtype.kind != "f":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{SCALARS[array.dtype.name]}'")
    require(bins > 0, f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if min == max and array.size:
        min, max = float(array.min()), float(array.max())
    if min == max:
        min, max = min - 1, max + 1
    require(np.isfinite(min) and np.isfinite(max), f"torch.histc: range of [{min:g}, {max:g}] is not finite")
    require(min < max, "torch.histc: max must be larger than min")
    return tensor_of(np.histogram(array[~np.isnan(array)], bins, (min, max))[0].astype(array.dtype))


def bounds(values, given, dim):
    """Where the outermost edges are: as given, or those of the data, and an interval in any case."""
    low, high = given or ((values.min(), values.max()) if values.size else (0.0, 1.0))
    require(np.isfinite(low) and np.isfinite(high), f"{NAME}: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    require(low <= high, f"{NAME}: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def check_edges(array, edges):
    for dim, edge in enumerate(edges):
        found = f"in the bins tensor for dimension {dim}"
        require(edge.ndim == 1, f"{NAME}: bins tensor should have one dimension, but got {edge.ndim} dimensions {found}")
        require(edge.size, f"{NAME}: bins tensor should have at least 1 element, but got 0 elements {found}")
        kinds = f"input with dtype {SCALAR_TYPES[array.dtype.name]} and bins for dimension {dim} with dtype {SCALAR_TYPES[edge.dtype.name]}"
        require(edge.dtype == array.dtype, f"{NAME}: input tensor and bins tensors should have the same dtype, but got {kinds}")


def check_weight(array, weight):
    kinds = f"input({SCALAR_TYPES[array.dtype.name]}), and weight({SCALAR_TYPES[weight.dtype.name]})"
    same = "if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
    require(array.dtype == weight.dtype, f"{NAME}: {same}{kinds}")
    require(array.shape[:-1] == weight.shape, f"{NAME}: {WEIGHT_SHAPE.format(list(array.shape), list(weight.shape))}")


def counted(array, edges, weight, density):
    """How much falls into every cell between the edges of each dimension; the last cell of each has its upper edge."""
    rows = array.reshape(-1, array.shape[-1])
    shape = tuple([max(len(edge) - 1, 0) for edge in edges])
    places = [np.where(x == e[-1], len(e) - 2, np.searchsorted(e, x, "right") - 1) for x, e in zip(rows.T, edges, strict=True)]
    inside = np.logical_and.reduce(
        [(0 <= p) & (p < n) & (e[0] <= x) & (x <= e[-1]) for p, n, x, e in zip(places, shape, rows.T, edges, strict=True)]
    )
    counts = np.zeros(shape, array.dtype)
    np.add.at(counts, tuple([p[inside] for p in places]), 1 if weight is None else weight.reshape(-1)[inside])
    if density:
        counts = counts / counts.sum()
        for dim, edge in enumerate(edges):
            counts /= np.diff(edge).reshape([-1 if d == dim else 1 for d in range(counts.ndim)])
    return counts.astype(array.dtype, copy=False)


def histogram_of(array, bins, limits, weight, density):
    """(counts, the edges of each dimension) for points along the last dimension; `bins` are edges or counts."""
    counts = None if isinstance(bins[0], Tensor) else [int(n) for n in bins]
    edges = [x.array for x in bins] if counts is None else None
    for dim, n in enumerate(counts or ()):
        require(n > 0, f"torch.histogram(): bins must be > 0, but got {n} for dimension {dim}")
    check_edges(array, edges or ())
    if weight is not None:
        check_weight(array, weight.array)
    if array.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{SCALARS[array.dtype.name]}'")
    if edges is None:
        size, wanted = array.shape[-1], 2 * array.shape[-1]
        given = len(limits or ())
        require(
            limits is None or given == wanted,
            f"{NAME}: for a {size}-dimensional histogram range should have {wanted} elements, but got {given}",
        )
        ranges = [bounds(array[..., d], limits and limits[2 * d : 2 * d + 2], d) for d in range(size)]
        edges = [spaced(low, high, n + 1, array.dtype) for (low, high), n in zip(ranges, counts, strict=True)]
    return counted(array, edges, None if weight is None else weight.array, density), edges


def histogram(self, bins=100, *, range=None, weight=None, density=False):
    flat = None if weight is None else weight.reshape(-1) if weight.array.shape == self.array.shape else weight
    counts, (edges,) = histogram_of(self.array.reshape(-1, 1), [bins], range, flat, density)
    return named("histogram", without_slopes((counts, edges), self, weight))


def histogramdd(input, bins, range=None, weight=None, density=False):
    array = input.array
    require(array.ndim >= 2, f"{NAME}: input tensor should have at least 2 dimensions")
    bins = list(bins) if isinstance(bins, (tuple, list)) else [bins] * array.shape[-1]
    require(len(bins) == array.shape[-1], "histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    counts, edges = histogram_of(array, bins, range, weight, density)
    hist, *edges = without_slopes((counts, *edges), input, weight)
    return named("histogramdd", (hist, tuple(edges)))


def without_slopes(arrays, input, weight):
    """The results, on one node that has no derivative."""
    first, *rest = map(tensor_of, arrays)
    without_derivative("histogramdd", first, input, *([] if weight is None else [weight]))
    for i, result in enumerate(rest, 1):
        result.needs_grad, result.node, result.output_nr = first.needs_grad, first.node, i
    return first, *rest


publish(globals(), both="histc histogram", functions="histogramdd")
