"""What formulas call, on arrays: the fast way of a backward that nobody records (see gradients.py). Each does what its namesake does."""

import numpy as np

from gradrepl.engine import single
from gradrepl.engine.dims import ALL, as_dims, wrap_dim, wrap_dims
from gradrepl.engine.execution import summed
from gradrepl.engine.formulas import activations, general, joining, pointwise, products, reductions, statistics
from gradrepl.engine.formulas import shapes as shape_formulas
from gradrepl.engine.gradients import arrays
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops import comparison, shapes
from gradrepl.engine.ops import pointwise as pointwise_ops
from gradrepl.engine.ops import reductions as reduction_ops
from gradrepl.engine.ops.products import DOUBLE, FLOAT, product
from gradrepl.engine.promotion import alike


@arrays(pointwise.conj)
def conj(value):
    if isinstance(value, (int, float, complex)):
        return value.conjugate()
    return np.conj(value) if value.dtype.kind == "c" else value


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
    if exponent == 2 and self.dtype.kind == "f" and self.ndim:
        twice = np.add(self, self)  # what 2 * self is, without a number to convert
        return np.multiply(grad, twice, twice)
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
    if not self.ndim:  # np.broadcast_to takes ten times as long
        return np.ndarray(size, self.dtype, np.asarray(self), 0, (0,) * len(size))
    return np.broadcast_to(self, size)


def unreduced(grad, dim, keepdim, ndim):
    axis = wrap_dims(dim, ndim)
    return grad if keepdim or not axis else np.expand_dims(grad, axis)


@arrays(reductions.sum_backward)
def sum_backward(grad, sizes, dim, keepdim):
    return np.broadcast_to(unreduced(grad, dim, keepdim, len(sizes)), sizes)


@arrays(reductions.mean_all_backward)
def mean_all_backward(grad, sizes, count):
    dtype = grad.dtype
    if dtype is not DOUBLE and dtype is not FLOAT:
        return expand(grad, sizes) / count
    result = np.empty(sizes, dtype)
    result.fill(float(grad) / (count or 1) if dtype is DOUBLE else grad / dtype.type(count))  # one division is enough
    return result


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
    return grad * conj(single.exp(self - result))


@arrays(statistics.cumsum_backward)
def cumsum_backward(grad, dim):
    if grad.size <= 1:
        return grad
    return np.flip(np.add.accumulate(np.flip(grad, dim), wrap_dim(dim, grad.ndim)), dim)


@arrays(activations.silu_backward)
def silu_backward(grad, self):
    opened = NAMES["sigmoid_forward"](self)
    return grad * opened * (1 + self * (1 - opened))


# ---- shapes


@arrays(shapes.reshape)
def reshape(self, *size):
    return self.reshape(*size)


arrays(general.sum_to)(summed)


@arrays(shape_formulas.permute_backward)
def permute_backward(grad, dims):
    order = [dim % len(dims) for dim in dims]
    return grad.transpose([order.index(i) for i in range(len(order))])


@arrays(shape_formulas.unsqueeze_dim_to)
def unsqueeze_dim_to(grad, dim, sizes):
    return grad.reshape(sizes) if sizes and sizes[dim] == 1 else grad


@arrays(shape_formulas.unsqueeze_to)
def unsqueeze_to(grad, sizes):
    return grad.reshape(sizes)


@arrays(shape_formulas.unsqueeze_dims_to)
def unsqueeze_dims_to(grad, dims, sizes):
    return grad.reshape(sizes)


@arrays(pointwise_ops.to_copy_backward)
def to_copy_backward(grad, dtype):
    return (grad.real if grad.dtype.kind == "c" != dtype.kind else grad).astype(dtype, copy=False)


# ---- joining


def filled(grads, shapes_of):
    known = next(g for g in grads if g is not None)
    return [np.zeros(shape, known.dtype) if g is None else g for g, shape in zip(grads, shapes_of)]


@arrays(joining.unbind_backward)
def unbind_backward(grads, dim):
    known = next(g for g in grads if g is not None)
    return np.stack(filled(grads, [known.shape] * len(grads)), dim)


@arrays(joining.split_with_sizes_backward)
def split_with_sizes_backward(grads, split_sizes, dim, sizes):
    at = dim % len(sizes)
    return np.concatenate(filled(grads, [(*sizes[:at], n, *sizes[at + 1 :]) for n in split_sizes]), at)


@arrays(joining.split_backward)
def split_backward(grads, split_size, dim, sizes):
    count = sizes[dim]
    return split_with_sizes_backward(grads, [min(split_size, count - i * split_size) for i in range(len(grads))], dim, sizes)


@arrays(joining.cat_tensors_backward)
def cat_tensors_backward(grad, sizes, dtypes, dim):
    answers, start = [], 0
    for size in sizes:
        if size == (0,):
            answers.append(np.zeros(size, grad.dtype))
            continue
        at = (slice(None),) * (dim % grad.ndim)
        answers.append(grad[(*at, slice(start, start + size[dim]))])
        start += size[dim]
    return answers


@arrays(joining.stack_tensors_backward)
def stack_tensors_backward(grad, dim, dtypes):
    return list(np.moveaxis(grad, dim, 0))


# ---- products: by the layout of the matrix whose gradient it is, as the formulas on tensors


def adjoint(matrix):
    return matrix.T if matrix.dtype.kind != "c" else matrix.T.conj()


@arrays(products.mm_mat1_backward)
def mm_mat1_backward(grad, mat2, sizes, strides, alpha):
    if strides[0] == grad.itemsize and strides[1] == grad.itemsize * sizes[0]:
        return maybe_multiply(product(conj(mat2), grad.T).T, alpha)
    answer = product(grad, adjoint(mat2))
    return answer if alpha == 1 else answer * alpha


@arrays(products.mm_mat2_backward)
def mm_mat2_backward(grad, mat1, sizes, strides, alpha):
    if strides[0] == grad.itemsize and strides[1] == grad.itemsize * sizes[0]:
        return maybe_multiply(product(grad.T, conj(mat1)).T, alpha)
    answer = product(adjoint(mat1), grad)
    return answer if alpha == 1 else answer * alpha
