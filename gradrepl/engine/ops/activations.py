"""Activations: declarations, 2-5 lines each. torch.nn.functional shows them under the names that `ACTIVATIONS` lists."""

import numpy as np

from gradrepl.engine.declare import Array, op
from gradrepl.engine.dims import wrap_dim
from gradrepl.engine.ops.pointwise import as_dtype, in_place
from gradrepl.engine.out import into
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish


@op("ReluBackward0", self="threshold_backward(grad, result, 0)")
def relu(self):
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return np.maximum(self, 0)


@op("ThresholdBackwardBackward0", grad_output="threshold_backward(grad, self, threshold)", self="zeros_like(grad)")
def threshold_backward(grad_output, self, threshold):
    return np.where(np.greater(self, threshold), grad_output, grad_output.dtype.type(0))


def softmax_of(array, dim):
    shifted = np.exp(np.subtract(array, np.maximum.reduce(array, dim, keepdims=True)))
    return np.divide(shifted, np.add.reduce(shifted, dim, keepdims=True), out=shifted)


def log_softmax_of(array, dim):
    high = np.maximum.reduce(array, dim, keepdims=True)
    total = np.log(np.add.reduce(np.exp(array - high), dim, keepdims=True))
    return array - high - total


def along(array, dim, function, name):
    """Run a softmax in single precision at least; a 0-d tensor counts as one element."""
    if array.dtype.kind != "f":
        raise NotImplementedError(f"\"{name}\" not implemented for '{SCALARS[array.dtype.name]}'")
    dim = wrap_dim(dim, array.ndim)
    if not array.size:
        return array.copy()
    wide = array.astype(np.float32) if array.dtype == np.float16 else array
    if array.ndim == 0:
        return function(wide.reshape(1), 0).reshape(()).astype(array.dtype, copy=False)
    return function(wide, dim).astype(array.dtype, copy=False)


@op("SoftmaxBackward0", self="softmax_backward_data(grad, result, dim)")
def softmax_dim(self, dim):
    return along(self, dim, softmax_of, "softmax_lastdim_kernel_impl")


@op("LogSoftmaxBackward0", self="log_softmax_backward_data(grad, result, dim)")
def log_softmax_dim(self, dim):
    return along(self, dim, log_softmax_of, "log_softmax_lastdim_kernel_impl")


def softmax_data(grad_output, output, dim):
    weighted = grad_output * output
    return weighted - output * (np.add.reduce(weighted, dim, keepdims=True) if output.ndim else weighted)


def log_softmax_data(grad_output, output, dim):
    return grad_output - np.exp(output) * (np.add.reduce(grad_output, dim, keepdims=True) if output.ndim else grad_output)


@op(
    "SoftmaxBackwardDataBackward0",
    grad_output="softmax_backward_data(grad, output, dim)",
    output="softmax_double_backward(grad, grad_output, dim, output)",
)
def softmax_backward_data(grad_output, output, dim):
    return softmax_data(grad_output, output, dim)


@op(
    "LogSoftmaxBackwardDataBackward0",
    grad_output="grad - (grad * exp(output)).sum(dim, True)",
    output="-grad_output.sum(dim, True) * exp(output) * grad",
)
def log_softmax_backward_data(grad_output, output, dim):
    return log_softmax_data(grad_output, output, dim)


def softmax(self, dim, dtype=None, *, out=None):
    result = softmax_dim(as_dtype(self, dtype.array) if dtype else self, dim)
    return result if out is None else into(out, result, "softmax")


def log_softmax(self, dim, dtype=None, *, out=None):
    result = log_softmax_dim(as_dtype(self, dtype.array) if dtype else self, dim)
    return result if out is None else into(out, result, "log_softmax")


publish(globals(), both="relu softmax log_softmax", in_place_both="relu")
