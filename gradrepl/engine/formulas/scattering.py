"""Derivatives of reading and writing by index tensors. Everything here runs on tensors, so that it can be differentiated."""

import numpy as np

from gradrepl.engine.barriers import DelayedError
from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import maybe_multiply, where, zeros_like
from gradrepl.engine.formulas.indexing import new_zeros
from gradrepl.engine.modes import here
from gradrepl.engine.ops.pointwise import in_place
from gradrepl.engine.ops.scattering import put_op, scatter_add
from gradrepl.engine.tensor import tensor_of


@formula
def gather_backward(grad, self, dim, index, sparse_grad):
    return in_place(scatter_add)(new_zeros(grad, self.array.shape), dim, index, grad)


@formula
def index_select_backward(grad, sizes, dim, index):
    return new_zeros(grad, sizes).index_add_(dim, index, grad)


@formula
def index_source_backward(grad, dim, index, source, source_dim, alpha):
    """The gradient of what index_add or index_copy took from."""
    if source_dim:
        return maybe_multiply(grad.index_select(dim, index).expand_as(source), alpha)
    return maybe_multiply(grad.index_select(dim, index.squeeze(0)), alpha)


@formula
def index_fill_value_backward(grad, dim, index):
    return grad.index_select(dim, tensor_of(np.unique(index.array))).sum()


@formula
def take_backward(grad, self, index):
    return in_place(put_op)(new_zeros(grad, self.array.shape), index, grad, True)


@formula
def masked_select_backward(grad, self, mask):
    shape = np.broadcast_shapes(self.array.shape, mask.array.shape)
    return tensor_of(np.zeros(shape, grad.array.dtype)).masked_scatter_(mask, grad)


@formula
def masked_scatter_backward_backward(grad, sizes, mask):
    return new_zeros(grad, sizes).masked_scatter(mask, grad)


ONCE = "{0}(): Double backward is unsupported for {1} when >1 zeros in {1} are scattered to the same position in self"


class Places:
    """Where scatter_reduce or index_reduce reads and writes."""

    once = ONCE.format("scatter_reduce", "src")

    def __init__(self, dim, index):
        self.dim, self.index = dim, index

    def read(self, tensor):
        return tensor.gather(self.dim, self.index)

    def add(self, to, values):
        return to.scatter_add(self.dim, self.index, values)

    def fill(self, to, value):
        return to.scatter(self.dim, self.index, value)

    def reduce(self, to, values, reduce, include_self):
        return to.scatter_reduce(self.dim, self.index, values, reduce, include_self=include_self)


class Rows(Places):
    once = ONCE.format("index_reduce", "source")

    def read(self, tensor):
        return tensor.index_select(self.dim, self.index if tensor.array.ndim else self.index.squeeze(0))

    def add(self, to, values):
        return to.index_add(self.dim, self.index, values)

    def fill(self, to, value):
        return to.index_fill(self.dim, self.index, value)

    def reduce(self, to, values, reduce, include_self):
        return to.index_reduce(self.dim, self.index, values, reduce, include_self=include_self)


@formula
def scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result):
    return reduced_backward(Places(dim, index), grad, self, src, reduce, include_self, result)


@formula
def index_reduce_backward(grad, self, dim, index, source, reduce, include_self, result):
    return reduced_backward(Rows(dim, index), grad, self, source, reduce, include_self, result)


def reduced_backward(places, grad, self, src, reduce, include_self, result):
    """The gradients of both inputs of a reduction into places of `self`."""
    to_self, to_src = GRADIENTS[reduce](places, grad, self, src, include_self, result)
    return (to_self if include_self else places.fill(to_self, 0)), to_src


def sum_gradients(places, grad, self, src, include_self, result):
    return grad, places.read(grad)


def mean_gradients(places, grad, self, src, include_self, result):
    count = places.add(filled_like(grad, int(include_self)), filled_like(src, 1))
    count = count.masked_fill(count == 0, 1)
    return grad / count, places.read(grad) / places.read(count)


def prod_gradients(places, grad, self, src, include_self, result):
    """The product of the other factors; a single zero among them gets the product of the rest."""
    masked_self = self.masked_fill(self == 0, 1)
    to_self = grad * places.reduce(masked_self, src, "prod", include_self) / masked_self
    zero = src == 0
    zeros = places.read(places.add(zeros_like(self), like(zero, self)))
    single = tensor_of(zero.array & (zeros.array == 1))
    rest = places.reduce(self, src.masked_fill(single, 1), "prod", include_self)
    to_src = where(single, places.read(grad * rest), places.read(grad * result) / src.masked_fill(zero, 1))
    if here.grad and bool((zero.array & (zeros.array > 1)).any()):
        to_src = DelayedError(places.once, 1)(to_src)
    return to_self, to_src


def extreme_gradients(places, grad, self, src, include_self, result):
    """Shared evenly by the values that reach the extreme."""
    of_self, of_src = like(self == result, self), like(src == places.read(result), self)
    shared = grad / places.add(of_self, of_src)
    return of_self * shared, of_src * places.read(shared)


def filled_like(tensor, value):
    return tensor_of(np.full(tensor.array.shape, value, tensor.array.dtype))


def like(mask, tensor):
    return tensor_of(mask.array.astype(tensor.array.dtype))


GRADIENTS = dict(sum=sum_gradients, mean=mean_gradients, prod=prod_gradients, amax=extreme_gradients, amin=extreme_gradients)
