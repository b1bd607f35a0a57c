"""Derivatives of views and reshapes. Everything here runs on tensors, so that it can be differentiated."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.dims import wrap_dim
from gradrepl.engine.formulas.general import zeros_like
from gradrepl.engine.modes import here
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.shapes import as_strided, as_strided_backward_op, permute_dims, unsqueeze
from gradrepl.engine.tensor import tensor_of


@formula
def permute_backward(grad, dims):
    """The inverse permutation."""
    order = [dim % len(dims) for dim in dims]
    return permute_dims(grad, tuple([order.index(i) for i in range(len(order))]))


@formula
def start_of(geometry, storage_offset):
    """Where as_strided began: where its input did, if it was not told."""
    return geometry.start if storage_offset is None else storage_offset


@formula
def as_strided_backward(grad, geometry, size, stride, storage_offset):
    """The gradient written into zeros through the view's strides, read with the base's; with a graph, as PyTorch records it."""
    start = start_of(geometry, storage_offset)
    if not here.grad or overlaps(size, stride) or overlaps(geometry.size, geometry.stride):
        return as_strided_backward_op(grad, geometry, size, stride, storage_offset)
    storage = tensor_of(np.zeros(geometry.span, grad.array.dtype))
    as_strided(storage, size, stride, start).copy_(grad)
    return as_strided(storage, geometry.size, geometry.stride, geometry.start)


def overlaps(size, stride):
    """Whether two elements may lie at one place: some stride does not reach over the smaller ones."""
    reach = 1
    for step, n in sorted((s, n) for s, n in zip(stride, size) if n != 1):
        if step < reach:
            return True
        reach = step * (n - 1) + reach
    return False


@formula
def unsqueeze_to(grad, sizes):
    """Put back every dim of one element."""
    return unsqueeze_dims_to(grad, range(len(sizes)), sizes)


@formula
def unsqueeze_dim_to(grad, dim, sizes):
    dim = wrap_dim(dim, len(sizes))
    return unsqueeze(grad, dim) if sizes and sizes[dim] == 1 else grad


@formula
def unsqueeze_dims_to(grad, dims, sizes):
    for dim in sorted(wrap_dim(dim, len(sizes)) for dim in dims) if sizes else ():
        grad = unsqueeze(grad, dim) if sizes[dim] == 1 else grad
    return grad


@formula
def as_strided_scatter_backward(grad, size, stride, storage_offset):
    """What PyTorch gives for `self`: the gradient where the source was written, zero elsewhere."""
    written = as_strided(grad.contiguous(), size, stride, storage_offset)
    return NAMES["as_strided_scatter_op"](zeros_like(grad), written, size, stride, storage_offset)
