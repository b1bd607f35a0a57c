"""Derivatives of indexing. Everything here runs on tensors, so that it can be differentiated."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.modes import here
from gradrepl.engine.ops.indexing import index_put, index_put_impl
from gradrepl.engine.ops.pointwise import in_place
from gradrepl.engine.tensor import tensor_of


@formula
def new_zeros(tensor, sizes):
    """Zeros of another shape, of the same type."""
    return tensor_of(np.zeros(sizes, tensor.array.dtype))


@formula
def index_backward(grad, sizes, indices):
    """Add the gradient to zeros at the places that were read."""
    zeros = new_zeros(grad, sizes)
    return index_put(zeros, indices, grad, True) if here.mapping else in_place(index_put_impl)(zeros, indices, grad, True)
