"""Updates on bare arrays: what the tensors of an optimizer do where nobody records, without a tensor for every step in between.

An update is written once, for tensors; `bare` hands it its operands, as arrays where they are ordinary tensors of one dtype and shape.
"""

__name__ = "torch.optim.optimizer"

import numpy as np

from gradrepl import torch
from gradrepl.engine.fused import add_scaled, plus_product, store
from gradrepl.engine.modes import here
from gradrepl.engine.names import NAMES
from gradrepl.engine.tensor import Counter, Tensor
from gradrepl.engine.timing import ACTIVE
from gradrepl.torch.nn.parameter import Parameter

ORDINARY = Tensor, Parameter
DTYPES = np.dtype(np.float32), np.dtype(np.float64)
BLOCK = 1 << 16  # elements: what an update reads and writes of a large tensor at a time stays in the cache


class Bare:
    """An array that does what a tensor does in an update; writes are counted where the tensor counts its own."""

    __slots__ = ("array", "counter")

    def __init__(self, array, counter=None):
        self.array, self.counter = array, counter

    def written(self, array=None):
        if self.counter is not None:
            self.counter.version += 1
        return self

    def add(self, other, *, alpha=1):
        return Bare(np.add(self.array, value(other)) if alpha == 1 else plus_product(self.array, alpha, value(other)))

    def add_(self, other, *, alpha=1):
        return self.written(np.add(self.array, value(other), self.array) if alpha == 1 else add_scaled(self.array, alpha, value(other)))

    def mul_(self, other):
        return self.written(np.multiply(self.array, value(other), self.array))

    def div_(self, other):
        return self.written(np.true_divide(self.array, value(other), self.array))

    def sqrt(self):
        return Bare(np.sqrt(self.array))

    def sqrt_(self):
        return self.written(np.sqrt(self.array, self.array))

    def lerp_(self, end, weight):
        """From the nearer end, as `torch.lerp` does for accuracy."""
        way = np.subtract(end.array, self.array)
        if abs(weight) < 0.5:
            return self.written(add_scaled(self.array, weight, way))
        return self.written(store(self.array, plus_product(end.array, weight - 1, way)))

    def addcmul(self, first, second, *, value=1):
        return Bare(plus_product(self.array, times(first, value), second.array))

    def addcmul_(self, first, second, *, value=1):
        return self.written(plus_product(self.array, times(first, value), second.array, self.array))

    def addcdiv_(self, first, second, *, value=1):
        part = np.multiply(first.array, value)
        return self.written(np.add(self.array, np.true_divide(part, second.array, part), self.array))

    def maximum_(self, other):
        return self.written(np.maximum(self.array, other.array, self.array))

    def abs(self):
        return Bare(np.abs(self.array))

    def __mul__(self, other):
        return Bare(np.multiply(self.array, value(other)))

    def __truediv__(self, other):
        return Bare(np.true_divide(self.array, value(other)))

    def __rtruediv__(self, number):
        return Bare(np.true_divide(number, self.array))


def value(other):
    return other.array if type(other) is Bare else other


def times(first, value):
    return first.array if value == 1 else np.multiply(first.array, value)


def parts(parameter, *others):
    """The operands of an update with complex numbers as pairs: each part moves on its own, by its own moments."""
    tensors = (parameter, *others)
    return tensors if parameter.array.dtype.kind != "c" else tuple(map(torch.view_as_real, tensors))


def start_of(tensor, number):
    """What an optimizer's state starts with, for both parts of a complex number."""
    return complex(number, number) if tensor.is_complex() else number


def bare(parameter, *others):
    """The operands of one update, as the update is to have them: as tensors where somebody looks on, else one block after the other."""
    tensors = (parameter, *others)
    if here.records or here.level is not None or here.transforms or NAMES["wrote"] or NAMES["trace"] or ACTIVE:
        return (tensors,)
    array = parameter.array
    shape, dtype = array.shape, array.dtype
    if dtype not in DTYPES:
        return (tensors,)
    for tensor in tensors:
        other = tensor.array
        if not (type(tensor) in ORDINARY and other.dtype is dtype and other.shape == shape and is_own(tensor)):
            return (tensors,)
    if array.size > 2 * BLOCK and all([x.array.flags.c_contiguous for x in tensors]):
        return blocks(tensors)
    return ([Bare(x.array if shape else x.array.reshape(1), x.counter) for x in tensors],)  # NumPy's 0-d results are no arrays


def is_own(tensor):
    """Whether nobody else has to hear of a write: no views, no other tensor on the same memory; and no element stands for several."""
    counter = tensor.share_counter()
    return type(counter) is Counter and not counter.views and tensor.origin is None and 0 not in tensor.array.strides


def blocks(tensors):
    flat, counters = [x.array.reshape(-1) for x in tensors], [x.counter for x in tensors]
    for start in range(0, flat[0].size, BLOCK):
        yield [Bare(array[start : start + BLOCK], counter) for array, counter in zip(flat, counters)]
        counters = [None] * len(flat)
