"""What formulas call, on arrays: the fast way of a backward that nobody records (see gradients.py). Each does what its namesake does."""

import numpy as np

from gradrepl.engine.dims import ALL, as_dims, wrap_dim, wrap_dims
from gradrepl.engine.formulas import activations, general, pointwise, reductions, statistics
from gradrepl.engine.gradients import arrays
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops import comparison, shapes
from gradrepl.engine.ops import pointwise as pointwise_ops
from gradrepl.engine.ops import reductions as reduction_ops
from gradrepl.engine.promotion import alike


@arrays(pointwise.conj)
def conj(value):
    return value if isinstance(value, (int, float)) or value.dtype.kind != "c" else np.conj(value)


@arrays(general.maybe_multiply)
def maybe_multiply(grad, alpha):
    return grad if alpha == 1 else grad * alpha


@arrays(general.zeros_like)
def zeros_like(array):
    return np.zeros(array.shape, array.dtype)


@arrays(general.zeros)
def zeros(meta):
    return np.zeros(*meta)


@arrays(general.where)
def where(condition, self, other):
    return np.where(condition, self, other)


@arrays(comparison.masked_fill)
def masked_fill(self, mask, value):
    return np.where(mask, self.dtype.type(value), self)


arrays(comparison.logical_and)(np.logical_and)
arrays(comparison.logical_or)(np.logical_or)
arrays(comparison.isnan)(np.isnan)
arrays(comparison.isfinite)(np.isfinite)


@arrays(pointwise_ops.pow)
def pow(self, exponent):
    return pointwise_ops.power(*alike(self, exponent))


@arrays(pointwise.pow_backward)
def pow_backward(grad, self, exponent):
    if exponent == 0:
        return zeros_like(grad)
    return grad * conj(exponent * (self if exponent == 2 else pow(self, exponent - 1)))


@arrays(pointwise.pow_backward_self)
def pow_backward_self(grad, self, exponent):
    return np.where(exponent == 0, 0, grad * conj(exponent * pow(self, exponent - 1)))


@arrays(pointwise.clamp_backward)
def clamp_backward(grad, self, min, max):
    inside = self >= min if min is not None else None
    if max is not None:
        inside = self <= max if inside is None else inside & (self <= max)
    return np.where(inside, grad, 0)


@arrays(shapes.expand)
def expand(self, size):
    return np.broadcast_to(self, size)


def unreduced(grad, dim, keepdim, ndim):
    axis = wrap_dims(dim, ndim)
    return grad if keepdim or not axis else np.expand_dims(grad, axis)


@arrays(reductions.sum_backward)
def sum_backward(grad, sizes, dim, keepdim):
    return np.broadcast_to(unreduced(grad, dim, keepdim, len(sizes)), sizes)


@arrays(reductions.mean_backward)
def mean_backward(grad, sizes, dim, count, keepdim):
    axis = wrap_dims(dim, len(sizes))
    if axis is not None:
        count = int(np.prod([sizes[d] for d in axis], dtype=np.int64))
    return np.broadcast_to(unreduced(grad, dim, keepdim, len(sizes)) / grad.dtype.type(count), sizes)


@arrays(reduction_ops.sum)
def sum(self, dim=ALL, keepdim=False):
    return reduction_ops.total(self, wrap_dims(None if dim is ALL else as_dims(dim), self.ndim), keepdim)


@arrays(reductions.restored)
def restored(array, dim, keepdim, self):
    return unreduced(array, dim, keepdim, self.ndim)


@arrays(reductions.scale_grad_by_count)
def scale_grad_by_count(grad, mask, dim):
    return (grad * mask) / np.add.reduce(mask, wrap_dims(dim, mask.ndim), grad.dtype, keepdims=True)


@arrays(reductions.evenly_distribute_backward)
def evenly_distribute_backward(grad, self, result):
    mask = np.isnan(self) if result != result else self == result
    return np.where(mask, grad / grad.dtype.type(np.count_nonzero(mask)), grad.dtype.type(0))


@arrays(reductions.logsumexp_backward)
def logsumexp_backward(grad, self, result, dim, keepdim):
    grad, result = (unreduced(x, dim, keepdim, self.ndim) for x in (grad, result))
    return grad * conj(np.exp(self - result))


@arrays(statistics.cumsum_backward)
def cumsum_backward(grad, dim):
    if grad.size <= 1:
        return grad
    return np.flip(np.add.accumulate(np.flip(grad, dim), wrap_dim(dim, grad.ndim)), dim)


@arrays(activations.silu_backward)
def silu_backward(grad, self):
    opened = NAMES["sigmoid_forward"](self)
    return grad * opened * (1 + self * (1 - opened))
