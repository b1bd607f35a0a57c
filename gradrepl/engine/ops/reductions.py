"""Sums, products, extremes and questions over dimensions: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine import single
from gradrepl.engine.declare import op
from gradrepl.engine.dims import ALL, as_dims, require, wrap_dim, wrap_dims
from gradrepl.engine.layout import tidied, tidy
from gradrepl.engine.ops.extremes import maximum, minimum
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.returns import RETURN_TYPES
from gradrepl.engine.tensor import Tensor, tensor_of

MAX, MIN, AMINMAX = (RETURN_TYPES[name] for name in ("max", "min", "aminmax"))
DOUBLE = np.dtype(np.float64)
WIDE = {np.dtype(np.float16): np.dtype(np.float32)}  # half precision is summed in single


def accumulated(array, dtype=None):
    """What a sum is taken over, and the dtype of the answer: booleans and small integers are summed as int64."""
    target = dtype.array if dtype else np.dtype(np.int64) if array.dtype.kind in "biu" else array.dtype
    return array.astype(WIDE.get(target, target), copy=False), target


def total(array, axis=None, keepdims=False, dtype=None):
    array, target = accumulated(array, dtype)
    result = single.total(array, axis, keepdims).astype(target, copy=False)
    return result if axis is None and not keepdims else tidy(result)


@op("SumBackward0", self="grad.expand(self.sym_sizes())")
def sum_all(self, dtype=None):
    return np.add.reduce(self, None) if self.dtype is DOUBLE and dtype is None else total(self, None, False, dtype)


@op("SumBackward1", self="sum_backward(grad, self.sym_sizes(), dim, keepdim)")
def sum_dim(self, dim, keepdim=False, dtype=None):
    return total(self, wrap_dims(dim, self.ndim), keepdim, dtype)


def sum(self, dim=ALL, keepdim=False, *, dtype=None):
    return sum_all(self, dtype) if dim is ALL else sum_dim(self, as_dims(dim), keepdim, dtype)


@op("NansumBackward0", self="nansum_backward(grad, self, dim, keepdim)")
def nansum_dim(self, dim=None, keepdim=False, dtype=None):
    known = np.where(np.isnan(self), self.dtype.type(0), self) if self.dtype.kind == "f" else self
    return total(known, wrap_dims(dim, self.ndim), keepdim, dtype)


def nansum(self, dim=None, keepdim=False, *, dtype=None):
    if self.array.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    return nansum_dim(self, as_dims(dim), keepdim, dtype)


def averaged(array, axis, keepdims, dtype, name="mean"):
    target = dtype.array if dtype else array.dtype
    if target.kind not in "fc":
        how = "could not infer output dtype. Input" if not dtype else "could not infer output dtype. Optional"
        raise RuntimeError(f"{name}(): {how} dtype must be either a floating point or complex dtype. Got: {SCALARS[target.name]}")
    count = array.size if axis is None else int(np.prod([array.shape[d] for d in axis], dtype=np.int64))
    if array.dtype is target and target not in WIDE:
        return single.total(array, axis, keepdims) / target.type(count)
    wide = array.astype(WIDE.get(target, target), copy=False)
    return np.true_divide(single.total(wide, axis, keepdims), wide.dtype.type(count)).astype(target, copy=False)


@op("MeanBackward0", self="mean_all_backward(grad, self.sym_sizes(), self.sym_numel())")
def mean_all(self, dtype=None):
    return np.add.reduce(self, None) / self.size if self.dtype is DOUBLE and dtype is None else averaged(self, None, False, dtype)


@op("MeanBackward1", self="mean_backward(grad, self.sym_sizes(), dim, self.sym_numel(), keepdim)")
def mean_dim(self, dim, keepdim=False, dtype=None):
    return tidy(averaged(self, wrap_dims(dim, self.ndim), keepdim, dtype))


def mean(self, dim=ALL, keepdim=False, *, dtype=None):
    return mean_all(self, dtype) if dim is ALL else mean_dim(self, as_dims(dim), keepdim, dtype)


def nanmean(self, dim=None, keepdim=False, *, dtype=None):
    if self.array.dtype.kind not in "fc":
        kind = SCALARS[self.array.dtype.name]
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {kind}")
    counted = sum(tensor_of(~np.isnan(self.array)), dim, keepdim)
    return nansum(self, dim, keepdim, dtype=dtype) / counted


@op("ProdBackward0", self="prod_backward(grad, self, result)")
def prod_all(self, dtype=None):
    array, target = accumulated(self, dtype)
    return np.multiply.reduce(array, None).astype(target, copy=False)


@op("ProdBackward1", self="prod_backward(grad, self, result, dim, keepdim)")
@tidied
def prod_dim(self, dim, keepdim=False, dtype=None):
    array, target = accumulated(self, dtype)
    dim = wrap_dim(dim, self.ndim)
    return np.multiply.reduce(array, dim if self.ndim else (), keepdims=keepdim).astype(target, copy=False)


def prod(self, dim=ALL, keepdim=False, *, dtype=None):
    return prod_all(self, dtype) if dim is ALL else prod_dim(self, dim, keepdim, dtype)


def extreme(array, dim, keepdim, find, name):
    """The extreme along one dimension, and the place of the first one; the first NaN is the extreme if there is one."""
    if array.dtype.kind == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    dim = wrap_dim(dim, array.ndim)
    if not array.ndim:
        return array.copy(), np.zeros((), np.int64)
    if not array.shape[dim]:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
    indices = find(array, dim, keepdims=True)
    values = np.take_along_axis(array, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


SELECTING = "value_selecting_reduction_backward(grad, dim, indices, self.sym_sizes(), keepdim)"
SELECTION = dict(outputs="values, indices", differentiable="values", self=SELECTING)


@op("MaxBackward0", **SELECTION)
def max_dim(self, dim, keepdim=False):
    return extreme(self, dim, keepdim, np.argmax, "max")


@op("MinBackward0", **SELECTION)
def min_dim(self, dim, keepdim=False):
    return extreme(self, dim, keepdim, np.argmin, "min")


EMPTY = "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."


def of_all(array, reduce, name):
    if array.dtype.kind == "c":
        raise NotImplementedError(f"\"{name}_all\" not implemented for '{SCALARS[array.dtype.name]}'")
    if not array.size:
        raise RuntimeError(EMPTY.format(name))
    return reduce(array, None)


@op("MaxBackward1", self="evenly_distribute_backward(grad, self, result)")
def max_all(self):
    return of_all(self, np.maximum.reduce, "max")


@op("MinBackward1", self="evenly_distribute_backward(grad, self, result)")
def min_all(self):
    return of_all(self, np.minimum.reduce, "min")


def overloaded(name, whole, along, pair, kind):
    """`max` and `min`: of everything, along a dimension, or of two tensors."""

    def function(self, dim=ALL, keepdim=False, *, other=None):
        if isinstance(dim, Tensor) or other is not None:
            result = pair(self, dim if other is None else other)
        elif dim is ALL:
            result = whole(self)
        else:
            result = kind(along(self, dim, keepdim))
        return result

    function.__name__ = function.__qualname__ = name
    return function


max = overloaded("max", max_all, max_dim, maximum, MAX)
min = overloaded("min", min_all, min_dim, minimum, MIN)


def place(name, find):
    """`argmax` and `argmin`."""

    def function(self, dim=None, keepdim=False):
        array = self.array
        if array.dtype.kind == "b":
            raise RuntimeError(f"{name}(): does not support bool input")
        if array.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input")
        if dim is None:
            if not array.size:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            result = find(array).reshape((1,) * array.ndim if keepdim else ())
        else:
            dim = wrap_dim(dim, array.ndim)
            if array.ndim and not array.shape[dim]:
                raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
            result = find(array, dim, keepdims=keepdim) if array.ndim else np.zeros((), np.int64)
        return tensor_of(result)

    function.__name__ = function.__qualname__ = name
    return function


argmax, argmin = place("argmax", np.argmax), place("argmin", np.argmin)

EVENLY = "scale_grad_by_count(restored(grad, dim, keepdim, self), restored(result, dim, keepdim, self) == self, dim)"


def extreme_axis(array, dim, kind):
    """The dimensions of `amax` and `amin`, which want something in them."""
    axis = wrap_dims(dim, array.ndim)
    if array.dtype.kind == "c":
        raise NotImplementedError(f"\"{kind}_values_cpu\" not implemented for '{SCALARS[array.dtype.name]}'")
    if axis is None and not array.size:
        raise RuntimeError(EMPTY.format(f"a{kind}"))
    for d, shown in zip(axis or (), dim or ()):
        if not array.shape[d]:
            raise IndexError(f"a{kind}(): Expected reduction dim {shown} to have non-zero size.")
    return axis


@op("AmaxBackward0", self=EVENLY)
@tidied
def amax_dims(self, dim=(), keepdim=False):
    axis = extreme_axis(self, dim, "max")
    return np.maximum.reduce(self, axis, keepdims=keepdim)


@op("AminBackward0", self=EVENLY)
@tidied
def amin_dims(self, dim=(), keepdim=False):
    axis = extreme_axis(self, dim, "min")
    return np.minimum.reduce(self, axis, keepdims=keepdim)


def amax(self, dim=(), keepdim=False):
    return amax_dims(self, as_dims(dim), keepdim)


def amin(self, dim=(), keepdim=False):
    return amin_dims(self, as_dims(dim), keepdim)


@op("AminmaxBackward0", outputs="min, max", self="aminmax_backward(grads, self, dim, keepdim, min, max)")
@tidied
def aminmax_dim(self, dim=None, keepdim=False):
    if self.dtype.kind == "c":
        raise NotImplementedError(f"\"aminmax_cpu\" not implemented for '{SCALARS[self.dtype.name]}'")
    if dim is None:
        if not self.size:
            raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
        low, high = np.minimum.reduce(self, None), np.maximum.reduce(self, None)
        return (low.reshape((1,) * self.ndim), high.reshape((1,) * self.ndim)) if keepdim else (low, high)
    axis = wrap_dims(dim, self.ndim)
    if self.ndim and not self.shape[axis[0]]:
        raise IndexError(f"aminmax: Expected reduction dim {dim} to have non-zero size.")
    return np.minimum.reduce(self, axis, keepdims=keepdim), np.maximum.reduce(self, axis, keepdims=keepdim)


def aminmax(self, *, dim=None, keepdim=False):
    return AMINMAX(aminmax_dim(self, dim, keepdim))


def question(name, reduce):
    """`all` and `any`: booleans, of bytes bytes."""

    def function(self, dim=None, keepdim=False):
        array = self.array.astype(bool)
        if dim != ():  # no dimensions at all: every element for itself
            array = tidy(np.asarray(reduce(array, wrap_dims(as_dims(dim), array.ndim), keepdims=keepdim)))
        return tensor_of(array.astype(np.uint8) if self.array.dtype == np.uint8 else array)

    function.__name__ = function.__qualname__ = name
    return function


all, any = question("all", np.logical_and.reduce), question("any", np.logical_or.reduce)


def count_nonzero(self, dim=None):
    return tensor_of(np.add.reduce(self.array.astype(bool), wrap_dims(as_dims(dim), self.array.ndim), np.int64))


@op("LogsumexpBackward0", self="logsumexp_backward(grad, self, result, dim, keepdim)")
@tidied
def logsumexp_dims(self, dim, keepdim=False):
    axis = wrap_dims(dim, self.ndim)
    if not self.size:
        return single.log(single.total(single.exp(self), axis, keepdim))
    high = np.maximum.reduce(self.real, axis, keepdims=True)
    high = np.where(np.isinf(high), high.dtype.type(0), high)
    result = single.log(single.total(single.exp(self - high), axis, True)) + high
    return result if keepdim else result.squeeze(axis)


def logsumexp(self, dim, keepdim=False):
    self = self if self.array.dtype.kind in "fc" else tensor_of(self.array.astype(np.float32))
    return logsumexp_dims(self, as_dims(dim), keepdim)


def hash_tensor(self, dim=(), *, keepdim=False, mode=0):
    """The elements, widened to 64 bits, combined by exclusive or."""
    require(mode == 0, f"Unknown hash_tensor mode: {mode}")
    array, axis = self.array, wrap_dims(as_dims(dim), self.array.ndim)
    if axis is None and not array.size:
        raise RuntimeError(EMPTY.format("hash_tensor").replace("():", ":"))
    if array.dtype.kind == "c":
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{SCALARS[array.dtype.name]}'")
    wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int64).view(np.uint64)
    return tensor_of(tidy(np.asarray(np.bitwise_xor.reduce(wide, axis, keepdims=keepdim))))


publish(
    globals(),
    both="hash_tensor sum nansum mean nanmean prod max min argmax argmin amax amin aminmax all any count_nonzero logsumexp",
)
