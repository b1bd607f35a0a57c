"""Derivatives of matrix products. Everything here runs on tensors, so that it can be differentiated."""

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import maybe_multiply
from gradrepl.engine.formulas.pointwise import conj


def is_column_major(grad, sizes, strides):
    """Whether a matrix (strides in bytes) lies column by column."""
    return strides == (grad.array.itemsize, grad.array.itemsize * sizes[0])


@formula
def mm_mat1_backward(grad, mat2, sizes, strides, alpha):
    """grad mat2^H, laid out as mat1 is."""
    if is_column_major(grad, sizes, strides):
        return maybe_multiply(conj(mat2).mm(grad.t()).t(), alpha)
    return maybe_multiply(grad.mm(conj(mat2.t())), alpha)


@formula
def mm_mat2_backward(grad, mat1, sizes, strides, alpha):
    """mat1^H grad, laid out as mat2 is."""
    if is_column_major(grad, sizes, strides):
        return maybe_multiply(grad.t().mm(conj(mat1)).t(), alpha)
    return maybe_multiply(conj(mat1.t()).mm(grad), alpha)


@formula
def spread_batch(grad, *sizes):
    """The gradient of a sum over the batch, for every member of it."""
    return grad.unsqueeze(0).expand(sizes)
