"""Derivatives of statistics, cumulative operations and norms that one expression does not hold."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.dims import wrap_dim, wrap_dims
from gradrepl.engine.formulas.general import where, zeros_like
from gradrepl.engine.formulas.pointwise import conj
from gradrepl.engine.formulas.reductions import mean_backward, unreduced
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.comparison import masked_fill
from gradrepl.engine.ops.joining import cat, stack
from gradrepl.engine.ops.pointwise import add_scalar, mul_scalar
from gradrepl.engine.tensor import tensor_of

inf = float("inf")


@formula
def var_backward(grad, self, dim, correction, keepdim):
    axis = wrap_dims(dim, self.array.ndim)
    count = int(np.prod([self.array.shape[d] for d in axis], dtype=np.int64)) if axis else self.array.size
    freedom = count - (1 if correction is None else correction)
    mean = self.mean(axis, True) if axis else self.mean()
    grad = unreduced(grad, dim, keepdim, self.array.ndim)
    if freedom == 0:  # no slope: NaN at the mean, infinite elsewhere
        return grad * tensor_of(np.where(self.array == mean.array, np.nan, np.inf).astype(self.array.real.dtype))
    return mul_scalar(grad, 2.0 / freedom) * (self - mean)


@formula
def std_backward(result, grad, self, dim, correction, keepdim):
    return var_backward(masked_fill(grad / mul_scalar(result, 2), result == 0, 0), self, dim, correction, keepdim)


@formula
def var_mean_backward(grads, self, dim, correction, keepdim):
    parts = []
    if grads[0] is not None:
        parts.append(var_backward(grads[0], self, dim, correction, keepdim))
    if grads[1] is not None:
        parts.append(mean_backward(grads[1], self.shape, dim, self.array.size, keepdim))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@formula
def std_mean_backward(grads, self, result0, dim, correction, keepdim):
    to_variance = None if grads[0] is None else masked_fill(grads[0] / mul_scalar(result0, 2), result0 == 0, 0)
    return var_mean_backward((to_variance, grads[1]), self, dim, correction, keepdim)


@formula
def cumsum_backward(grad, dim):
    return grad if grad.array.size <= 1 or not grad.array.ndim else grad.flip((dim,)).cumsum(dim).flip((dim,))


@formula
def cumprod_backward(grad, self, dim, result):
    """sum over k >= i of grad[k] * result[k] / self[i]; where self[i] is zero, the product without it takes its place."""
    if self.array.size <= 1 or not self.array.ndim:
        return grad
    weighted = conj(result) * grad
    if not (self.array == 0).any():
        return cumsum_backward(weighted, dim) / conj(self)
    dim = wrap_dim(dim, self.array.ndim)
    slices = [cumprod_slope(grad, self, dim, i) for i in range(self.array.shape[dim])]
    return stack(slices, dim)


def cumprod_slope(grad, self, dim, i):
    """The gradient of one slice: products of everything but it, from its place on."""
    length = self.array.shape[dim]
    before = self.narrow(dim, 0, i).prod(dim, True) if i else tensor_of(np.ones_like(self.array.take([0], dim)))
    after = self.narrow(dim, i + 1, length - i - 1).cumprod(dim)
    ones = tensor_of(np.ones_like(self.array.take([0], dim)))
    others = conj(cat([ones, after], dim) * before)
    return (grad.narrow(dim, i, length - i) * others).sum(dim)


@formula
def cummaxmin_backward(grad, self, indices, dim):
    if not self.array.ndim or not self.array.size:
        return grad
    return zeros_like(self).scatter_add(dim, indices, grad)


@formula
def logcumsumexp_backward(grad, self, result, dim):
    if not self.array.ndim or not self.array.size:
        return grad
    if self.array.dtype.kind == "c":
        weighted = cumsum_backward(grad * conj((-result).exp()), dim)
        return weighted * conj(self.exp())
    low = float(np.finfo(self.array.dtype).min)
    positive = where(grad > 0, grad.log(), low)
    negative = where(grad < 0, (-grad).log(), low)
    reverse = lambda x: x.flip((dim,)).logcumsumexp(dim).flip((dim,))
    return (reverse(positive - result) + self).exp() - (reverse(negative - result) + self).exp()


@formula
def vector_norm_backward(grad, self, ord, result, dim, keepdim):
    return norm_backward(grad, self, ord, result, None if dim is None else dim, keepdim)


@formula
def norm_backward(grad, self, p, result, dim=None, keepdim=False):
    """d |x|_p = |x|^(p-1) sign(x) / |x|_p^(p-1), zero where the norm is; the extremes share their gradient."""
    p = 2.0 if p is None else float(p)
    axis = wrap_dims(dim, self.array.ndim)
    grad, result = (unreduced(x, dim, keepdim, self.array.ndim) for x in (grad, result))
    if p == 0:
        return None
    if p == 1:
        return self.sgn() * grad
    if p == 2:
        return grad * masked_fill(self / result, result == 0, 0)
    if p in (inf, -inf):
        size = self.abs()
        mask = size == result
        if np.isnan(result.array).any():
            mask = mask.logical_or(result.isnan().logical_and(self.isnan()))
        count = mask.sum(tuple(range(self.array.ndim)) if axis is None else axis, True) if self.array.ndim else 1
        return self.sgn() * ((grad / count) * mask)
    if p < 1:
        slope = self.sgn() * masked_fill(self.abs().pow(p - 1), self == 0, 0)
        return slope * grad * result.pow(1 - p)
    if p < 2:
        slope = self.sgn() * self.abs().pow(p - 1)
        return slope * masked_fill(grad / result.pow(p - 1), result == 0, 0)
    slope = self * self.abs().pow(p - 2)
    return slope * masked_fill(grad / result.pow(p - 1), result == 0, 0)


@formula
def renorm_backward(grad, self, p, dim, maxnorm):
    others = tuple(d for d in range(self.array.ndim) if d != wrap_dim(dim, self.array.ndim))
    size = NAMES["linalg_vector_norm"](self, p, others, True, None)
    real = self.conj() * grad
    total = (real.real if self.array.dtype.kind == "c" else real).sum(others, True)
    slope = norm_backward(total, self, p, size, others, True)
    inverse = add_scalar(size, 1e-7).reciprocal()
    bent = mul_scalar(inverse, maxnorm) * (grad - inverse * slope)
    return where(size > maxnorm, bent.to(grad.dtype), grad)


@formula
def euclidean_backward(grad, x1, x2, result):
    """d |x1 - x2| by x1, zero where the rows meet."""
    ratio = masked_fill(grad / result, result == 0, 0)
    return x1 * ratio.sum(-1, True) - ratio.matmul(x2)
