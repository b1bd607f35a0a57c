"""Derivatives of reductions and activations that one expression does not hold."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.dims import wrap_dim, wrap_dims
from gradrepl.engine.formulas.general import zeros_like
from gradrepl.engine.formulas.pointwise import conj
from gradrepl.engine.ops import activations
from gradrepl.engine.ops.comparison import masked_fill_
from gradrepl.engine.ops.joining import cat
from gradrepl.engine.ops.pointwise import div_scalar
from gradrepl.engine.tensor import tensor_of

formula(activations.softmax_backward_data)


def unreduced(grad, dim, keepdim, ndim):
    """Put the reduced dimensions back, with size 1."""
    axis = wrap_dims(dim, ndim)
    if keepdim or not axis:
        return grad
    for d in sorted(axis):
        grad = grad.unsqueeze(d)
    return grad


@formula
def sum_backward(grad, sizes, dim, keepdim):
    return unreduced(grad, dim, keepdim, len(sizes)).expand(sizes)


@formula
def mean_all_backward(grad, sizes, count):
    return div_scalar(grad.expand(sizes), count)


@formula
def mean_backward(grad, sizes, dim, count, keepdim):
    axis = wrap_dims(dim, len(sizes))
    return sum_backward(grad, sizes, dim, keepdim) / (count if axis is None else int(np.prod([sizes[d] for d in axis], dtype=np.int64)))


@formula
def nansum_backward(grad, self, dim, keepdim):
    return sum_backward(grad, self.shape, dim, keepdim) * self.isnan().logical_not()


@formula
def restored(tensor, dim, keepdim, self):
    return unreduced(tensor, dim, keepdim, len(self.shape))


@formula
def scale_grad_by_count(grad, mask, dim):
    """Ties share the gradient evenly."""
    return (grad * mask) / mask.sum(dim, True)


@formula
def evenly_distribute_backward(grad, self, result):
    """Everything that equals the extreme shares its gradient evenly; a NaN is shared by the NaNs."""
    mask = self.isnan() if result.array.dtype.kind == "f" and np.isnan(result.array) else self == result
    return masked_fill_(zeros_like(self), mask, grad / mask.sum())


@formula
def aminmax_backward(grads, self, dim, keepdim, low, high):
    parts = [
        scale_grad_by_count(restored(g, dim, keepdim, self), restored(x, dim, keepdim, self) == self, () if dim is None else dim)
        for g, x in zip(grads, (low, high))
        if g is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@formula
def prod_backward(grad, self, result, dim=None, keepdim=False):
    """The product of all the others: a division where nothing is zero, else products from both sides."""
    if not self.array.ndim:
        return grad
    if dim is None:
        zeros = int((self.array == 0).sum())
        if zeros == 0:
            return grad * conj(result / self)
        return zeros_like(self) if zeros > 1 else (grad * conj(products_of_others(self.reshape(-1), 0))).reshape(self.shape)
    if not keepdim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    return grad * conj(products_of_others(self, dim) if (self.array == 0).any() else result / self)


def products_of_others(self, dim):
    """Of every element the product of all others along `dim`."""
    dim = wrap_dim(dim, self.array.ndim)
    length = self.array.shape[dim]
    one = tensor_of(np.ones((*self.array.shape[:dim], 1, *self.array.shape[dim + 1 :]), self.array.dtype))
    before = cat([one, self.narrow(dim, 0, length - 1)], dim).cumprod(dim)
    after = cat([one, self.narrow(dim, 1, length - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return before * after


@formula
def logsumexp_backward(grad, self, result, dim, keepdim):
    grad, result = (unreduced(x, dim, keepdim, self.array.ndim) for x in (grad, result))
    return grad * conj((self - result).exp())


@formula
def softmax_double_backward(grad, grad_output, dim, output):
    return grad_output * grad - (output * grad_output).sum(dim, True) * grad - grad_output * (output * grad).sum(dim, True)
