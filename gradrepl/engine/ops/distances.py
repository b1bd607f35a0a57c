"""Distances between the rows of two matrices. Declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dims import broadcast, require
from gradrepl.engine.ops.shapes import contiguous_clone, expand_sizes, view_sizes
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish

USE_MM = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def length(difference, p):
    """The p-norm of the last dim; p = 0 counts what is not zero."""
    if p == 0:
        return (difference != 0).sum(-1).astype(difference.dtype)
    if not difference.shape[-1]:
        return np.zeros(difference.shape[:-1], difference.dtype)
    return np.linalg.norm(difference, p, axis=-1).astype(difference.dtype, copy=False)


@op(
    "CdistBackward0",
    x1="cdist_backward(grad.contiguous(), x1, x2, p, result)",
    x2="cdist_backward(grad.transpose(-2, -1).contiguous(), x2, x1, p, result.transpose(-2, -1).contiguous())",
)
def cdist_op(x1, x2, p):
    return length(x1[..., :, None, :] - x2[..., None, :, :], p)


NOT_TWICE = "not_implemented('_cdist_backward')"


@op("CdistBackwardBackward0", grad_output=NOT_TWICE, x1=NOT_TWICE, x2=NOT_TWICE, distances=NOT_TWICE)
def cdist_backward(grad_output, x1, x2, p, distances):
    difference, whole = x1[..., :, None, :] - x2[..., None, :, :], distances[..., None]
    if p == 0:
        return np.zeros(x1.shape, x1.dtype)
    size = np.abs(difference)
    with np.errstate(all="ignore"):
        slope = np.sign(difference) * ((size == whole) if p == np.inf else (size / whole) ** (p - 1))
    slope = np.where((whole == 0) | (size == 0), 0, slope)
    return (slope * grad_output[..., None]).sum(-2).astype(x1.dtype, copy=False)


@op("EuclideanDistBackward0", {"x1, x2": "euclidean_dist_backward(grad, x1, x2, result)"})
def euclidean_dist(x1, x2):
    """By |x|^2 + |y|^2 - 2 x y: one matrix product."""
    squares = (x1 * x1).sum(-1)[..., :, None] + (x2 * x2).sum(-1)[..., None, :] - 2 * (x1 @ x2.swapaxes(-1, -2))
    return np.sqrt(np.maximum(squares, 0))


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    require(compute_mode in USE_MM, f"{compute_mode} is not a valid value for compute_mode", ValueError)
    for name, x in (("X1", x1), ("X2", x2)):
        require(x.array.ndim >= 2, f"cdist only supports at least 2D tensors, {name} got: {x.array.ndim}D")
    for name, x in (("X1", x1), ("X2", x2)):
        kind = SCALARS[x.array.dtype.name]
        require(x.array.dtype.kind == "f", f"cdist only supports floating-point dtypes, {name} got: {kind}")
    rows, columns, width = x1.array.shape[-2], x2.array.shape[-2], x1.array.shape[-1]
    require(width == x2.array.shape[-1], f"X1 and X2 must have the same number of columns. X1: {width} X2: {x2.array.shape[-1]}")
    require(p >= 0, "cdist only supports non-negative p values")
    mode = USE_MM[compute_mode]
    if p == 2 and (mode == 1 or mode is None and (rows > 25 or columns > 25)) and x1.array.size and x2.array.size:
        return by_products(x1, x2)
    return cdist_op(x1, x2, float(p))


def by_products(x1, x2):
    batch = broadcast(x1.array.shape[:-2], x2.array.shape[:-2])
    rows, columns = x1.array.shape[-2], x2.array.shape[-2]
    count = int(np.prod(batch))
    flat = lambda x, n: flattened(x, batch, (count, n, x.array.shape[-1]) if batch else x.array.shape)
    return view_sizes(euclidean_dist(flat(x1, rows), flat(x2, columns)), (*batch, rows, columns))


def flattened(tensor, batch, shape):
    if not batch:
        return tensor
    wide = expand_sizes(tensor, (*batch, *tensor.array.shape[-2:]))
    return view_sizes(wide if wide.array.flags.c_contiguous else contiguous_clone(wide), shape)


publish(globals(), functions="cdist")
