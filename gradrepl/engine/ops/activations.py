"""Activations: declarations, 2-5 lines each, with the ops that their derivatives are. torch.nn.functional is built on them."""

import numpy as np

from gradrepl.engine import single
from gradrepl.engine.declare import Array, op
from gradrepl.engine.dims import wrap_dim
from gradrepl.engine.lazy import special
from gradrepl.engine.masks import chosen, zeroed
from gradrepl.engine.ops.pointwise import as_dtype, in_place
from gradrepl.engine.promotion import SCALARS, in_single
from gradrepl.engine.public import FUNCTIONS, guarded, publish


def floats_only(array, name):
    if array.dtype.kind not in "fc":
        raise NotImplementedError(f"\"{name}\" not implemented for '{SCALARS[array.dtype.name]}'")
    return array


def logistic(array):
    return np.reciprocal(np.add(single.exp(np.negative(array)), 1))


def piecewise(array, condition, inside, outside):
    """`inside` where the condition holds, `outside` elsewhere, in the array's dtype."""
    return chosen(condition, inside, outside, array.dtype)


@op("ReluBackward0", self="threshold_backward(grad, result, 0)")
def relu(self):
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    return np.maximum(self, self.dtype.type(0))


@op("ThresholdBackward0", self="threshold_backward(grad, self, threshold)")
def threshold(self, threshold, value):
    return piecewise(self, self <= threshold, value, self)


@op("ThresholdBackwardBackward0", grad_output="threshold_backward(grad, self, threshold)", self="zeros_like(grad)")
def threshold_backward(grad_output, self, threshold):
    return zeroed(grad_output, np.less_equal(self, threshold))


@op("EluBackward0", self="elu_backward(grad, alpha, scale, input_scale, False, self)")
@in_single
def elu(self, alpha=1, scale=1, input_scale=1):
    return elu_of(self, alpha * scale, scale, input_scale)


@op("CeluBackward0", self="elu_backward(grad, alpha, 1, 1.0 / alpha, False, self)")
@in_single
def celu(self, alpha=1.0):
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return elu_of(self, alpha, 1, 1.0 / alpha)


@op("EluBackward1", self="elu_backward(grad, alpha, scale, input_scale, True, result)")
@in_single
def elu_written(self, alpha=1, scale=1, input_scale=1):
    return elu_of(self, alpha * scale, scale, input_scale)


@op("CeluBackward1", self="elu_backward(grad, alpha, 1, 1.0 / alpha, True, result)")
@in_single
def celu_written(self, alpha=1.0):
    return elu_of(self, alpha, 1, 1.0 / alpha)


def elu_of(array, below, above, inner):
    floats_only(array, "elu_cpu")
    return piecewise(array, array > 0, array * above, single.expm1(np.minimum(array, 0) * inner) * below)


@op(
    "EluBackwardBackward0",
    grad_output="elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result)",
    self_or_result="elu_double_backward(grad, grad_output, alpha, scale, input_scale, is_result, self_or_result)",
)
@in_single
def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
    x = self_or_result
    slope = input_scale * (x + alpha * scale) if is_result else input_scale * alpha * scale * single.exp(np.minimum(x, 0) * input_scale)
    return piecewise(grad_output, x <= 0, grad_output * slope, grad_output * scale)


@op("GeluBackward0", self="gelu_backward(grad, self, approximate)")
@in_single
def gelu(self, approximate="none"):
    floats_only(self, "GeluKernelImpl")
    if approximate == "tanh":
        return 0.5 * self * (1 + single.tanh(GELU_SCALE * (self + 0.044715 * self * self * self)))
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return self * 0.5 * (1 + special("erf", self * ROOT_HALF))


ROOT_HALF, GELU_SCALE, DENSITY = 0.7071067811865476, 0.7978845608028654, 0.3989422804014327


@op(
    "GeluBackwardBackward0",
    grad_output="gelu_backward(grad, self, approximate)",
    self="gelu_double_backward(grad, grad_output, self, approximate)",
)
@in_single
def gelu_backward(grad_output, self, approximate="none"):
    if approximate == "tanh":
        inner = GELU_SCALE * (self + 0.044715 * self * self * self)
        bent = single.tanh(inner)
        return grad_output * (0.5 * (1 + bent) + 0.5 * self * (1 - bent * bent) * GELU_SCALE * (1 + 3 * 0.044715 * self * self))
    cdf = 0.5 * (1 + special("erf", self * ROOT_HALF))
    return grad_output * (cdf + self * (DENSITY * single.exp(-0.5 * self * self)))


@op("SiluBackward0", self="silu_backward(grad, self)")
@in_single
def silu(self):
    return np.divide(floats_only(self, "silu_cpu"), np.add(1, single.exp(np.negative(self))))


@op("MishBackward0", self="mish_backward(grad, self)")
@in_single
def mish(self):
    return floats_only(self, "mish_cpu") * single.tanh(single.log1p(single.exp(self)))


@op("SoftplusBackward0", self="softplus_backward(grad, self, beta, threshold)")
@in_single
def softplus(self, beta=1, threshold=20):
    scaled = floats_only(self, "softplus_cpu") * self.dtype.type(beta)
    return piecewise(self, scaled > threshold, self, single.log1p(single.exp(np.minimum(scaled, threshold))) / beta)


@op(
    "SoftplusBackwardBackward0",
    grad_output="softplus_backward(grad, self, beta, threshold)",
    self="softplus_double_backward(grad * grad_output, self, beta, threshold)",
)
@in_single
def softplus_backward(grad_output, self, beta, threshold):
    scaled = self * self.dtype.type(beta)
    power = single.exp(np.minimum(scaled, threshold))
    return piecewise(grad_output, scaled > threshold, grad_output, grad_output * power / (power + 1))


@op("LogSigmoidBackward0", outputs="output, buffer", differentiable="output", self="log_sigmoid_backward(grad, self, buffer)")
@in_single
def log_sigmoid_forward(self):
    tail = single.exp(np.negative(np.abs(floats_only(self, "log_sigmoid_cpu"))))
    return np.minimum(self, self.dtype.type(0)) - single.log1p(tail), tail


@op(
    "LogSigmoidBackwardBackward0",
    grad_output="log_sigmoid_backward(grad, self, buffer)",
    self="log_sigmoid_double_backward(grad * grad_output, self)",
)
def log_sigmoid_backward(grad_output, self, buffer: Array):
    negative = self < 0
    share = buffer / (1 + buffer)
    return piecewise(grad_output, negative, grad_output * (1 - share), grad_output * share)


@op("HardtanhBackward0", self="hardtanh_backward(grad, self, min_val, max_val)")
def hardtanh(self, min_val=-1, max_val=1):
    return np.clip(self, self.dtype.type(min_val), self.dtype.type(max_val))


@op("HardtanhBackwardBackward0", grad_output="hardtanh_backward(grad, self, min_val, max_val)", self="zeros_like(grad)")
def hardtanh_backward(grad_output, self, min_val, max_val):
    return piecewise(grad_output, (self <= min_val) | (self >= max_val), 0, grad_output)


@op("HardsigmoidBackward0", self="hardsigmoid_backward(grad, self)")
@in_single
def hardsigmoid(self):
    floats_only(self, "hardsigmoid_cpu")
    return np.minimum(np.maximum(self + 3, self.dtype.type(0)), self.dtype.type(6)) / 6


@op()
def hardsigmoid_slope(grad_output: Array, self: Array):
    return piecewise(grad_output, (self > -3) & (self < 3), grad_output / 6, 0)


@op("HardswishBackward0", self="hardswish_backward(grad, self)")
@in_single
def hardswish(self):
    floats_only(self, "hardswish_cpu")
    return self * np.minimum(np.maximum(self + 3, self.dtype.type(0)), self.dtype.type(6)) / 6


@op(
    "HardswishBackwardBackward0",
    grad_output="hardswish_backward(grad, self)",
    self="where(logical_and(self > -3.0, self < 3.0), grad * grad_output / 3.0, 0)",
)
@in_single
def hardswish_backward(grad_output, self):
    inner = piecewise(grad_output, self < 3, grad_output * (self / 3 + 0.5), grad_output)
    return piecewise(grad_output, self <= -3, 0, inner)


@op("LeakyReluBackward0", self="leaky_relu_backward(grad, self, negative_slope, False)")
def leaky_relu(self, negative_slope=0.01):
    return piecewise(self, floats_only(self, "leaky_relu_cpu") > 0, self, self * self.dtype.type(negative_slope))


@op("LeakyReluBackward1", self="leaky_relu_backward(grad, result, negative_slope, True)")
def leaky_relu_written(self, negative_slope=0.01):
    return piecewise(self, floats_only(self, "leaky_relu_cpu") > 0, self, self * self.dtype.type(negative_slope))


@op("LeakyReluBackwardBackward0", grad_output="leaky_relu_backward(grad, self, negative_slope, False)", self="zeros_like(grad)")
def leaky_relu_backward(grad_output, self, negative_slope, self_is_result):
    return piecewise(grad_output, self > 0, grad_output, grad_output * grad_output.dtype.type(negative_slope))


@op("SoftshrinkBackward0", self="softshrink_backward(grad, self, lambd)")
def softshrink(self, lambd=0.5):
    highest = float(np.finfo(floats_only(self, "softshrink_check").dtype).max)
    if not 0 <= lambd <= highest:
        raise RuntimeError(f"lambda must be in range [0, {highest:g}] for input dtype {SCALARS[self.dtype.name]}, but found {lambd:g}")
    return piecewise(self, self > lambd, self - lambd, np.where(self < -lambd, self + lambd, self * 0))


@op("SoftshrinkBackwardBackward0", grad_output="softshrink_backward(grad, self, lambd)", self="zeros_like(grad)")
def softshrink_backward(grad_output, self, lambd):
    return piecewise(grad_output, (self >= -lambd) & (self <= lambd), 0, grad_output)


@op("HardshrinkBackward0", self="hardshrink_backward(grad, self, lambd)")
def hardshrink(self, lambd=0.5):
    return piecewise(self, (floats_only(self, "hardshrink_cpu") >= -lambd) & (self <= lambd), 0, self)


@op("HardshrinkBackwardBackward0", grad_out="hardshrink_backward(grad, self, lambd)", self="zeros_like(grad)")
def hardshrink_backward(grad_out, self, lambd):
    return piecewise(grad_out, (self >= -lambd) & (self <= lambd), 0, grad_out)


@op("PreluKernelBackward0", {"self, weight": "prelu_kernel_backward(grad, self, weight)"})
def prelu_kernel(self, weight):
    return piecewise(self, self > 0, self, self * weight)


@op(
    "PreluKernelBackwardBackward0",
    {"grad_output, self, weight": "prelu_double_backward(grads, grad_output, self, weight)"},
    outputs="grad_self, grad_weight",
)
def prelu_kernel_backward(grad_output, self, weight):
    positive = self > 0
    return piecewise(self, positive, grad_output, weight * grad_output), piecewise(self, positive, 0, self * grad_output)


def prelu(self, weight):
    if self.array.dtype is not weight.array.dtype:
        kinds = SCALARS[self.array.dtype.name], SCALARS[weight.array.dtype.name]
        raise RuntimeError("prelu: Type promoting not supported. Got {} and {}".format(*kinds))
    channels = weight.array.size
    if channels != 1:
        found = 1 if self.array.ndim < 2 else self.shape[1]
        if self.array.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        if channels != found:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {channels} and channel size = {found}."
            )
        weight = weight.reshape((1, -1) + (1,) * (self.array.ndim - 2) if self.array.ndim > 1 else (-1,))
    elif weight.array.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.array.ndim}")
    else:
        weight = weight.reshape((1,) * self.array.ndim)
    return prelu_kernel(self, weight)


@op("GluBackward0", self="glu_backward(grad, self, dim)")
@in_single
def glu(self, dim=-1):
    first, gate = halves(self, dim)
    return first * logistic(gate)


@op(
    "GluBackwardBackward0",
    grad_output="glu_double_backward_grad_output(grad, self, dim)",
    self="glu_double_backward(grad, grad_output, self, dim)",
)
@in_single
def glu_backward(grad_output, self, dim):
    first, gate = halves(self, dim)
    open_ = logistic(gate)
    return np.concatenate([grad_output * open_, grad_output * first * (1 - open_) * open_], wrap_dim(dim, self.ndim))


def halves(array, dim):
    if array.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, array.ndim)
    if array.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {array.shape[dim]}")
    return np.split(array, 2, dim)


@op("RreluWithNoiseBackward0", self="rrelu_backward(grad, self, noise, lower, upper, training, False)")
def rrelu_with_noise(self, noise: Array, lower, upper, training):
    return piecewise(self, self > 0, self, self * noise) if training else leaky(self, (lower + upper) / 2)


@op("RreluWithNoiseBackward1", self="rrelu_backward(grad, result, noise, lower, upper, training, True)")
def rrelu_with_noise_written(self, noise: Array, lower, upper, training):
    return piecewise(self, self > 0, self, self * noise) if training else leaky(self, (lower + upper) / 2)


def leaky(array, slope):
    return piecewise(array, array > 0, array, array * array.dtype.type(slope))


SHORT = 512  # elements of a row: rows up to there are looked at as columns, for NumPy goes along neighbours in a third of the time


def softmax_of(array, dim):
    if is_short(array, dim):
        powers = single.exp(below_highest(array))
        powers *= np.reciprocal(single.lane_sums(powers))
        return as_rows(powers)
    powers = single.exp(np.subtract(array, np.maximum.reduce(array, dim, keepdims=True)))
    total = single.softmax_total(powers, dim)
    return powers * np.reciprocal(total) if dim == array.ndim - 1 else powers / total


def log_softmax_of(array, dim):
    if is_short(array, dim):
        shifted = below_highest(array)
        shifted -= single.log(single.lane_sums(single.exp(shifted)))
        return as_rows(shifted)
    shifted = array - np.maximum.reduce(array, dim, keepdims=True)
    return shifted - single.log(single.softmax_total(single.exp(shifted), dim))


def is_short(array, dim):
    return dim == array.ndim - 1 and array.shape[dim] <= SHORT and array.dtype is single.SINGLE


def below_highest(array):
    """The rows as columns, less the largest of each."""
    columns = single.front(array, -1).copy()
    columns -= np.maximum.reduce(columns, 0)
    return columns


def as_rows(columns):
    return columns.transpose(*range(1, columns.ndim), 0).copy()


def along(array, dim, function, name):
    """Run a softmax in single precision at least; a 0-d tensor counts as one element."""
    dim = wrap_dim(dim, array.ndim)
    if not array.size:
        return array.copy()
    if array.dtype.kind != "f":
        which = "lastdim_" if dim >= array.ndim - 1 else ""
        raise NotImplementedError(f"\"{name}_{which}kernel_impl\" not implemented for '{SCALARS[array.dtype.name]}'")
    wide = array.astype(np.float32) if array.dtype == np.float16 else array if array.flags.c_contiguous else array.copy()
    if array.ndim == 0:
        return function(wide.reshape(1), 0).reshape(()).astype(array.dtype, copy=False)
    return function(wide, dim).astype(array.dtype, copy=False)


@op("SoftmaxBackward0", self="softmax_backward_data(grad, result, dim)")
def softmax_dim(self, dim):
    return along(self, dim, softmax_of, "softmax")


@op("LogSoftmaxBackward0", self="log_softmax_backward_data(grad, result, dim)")
def log_softmax_dim(self, dim):
    return along(self, dim, log_softmax_of, "log_softmax")


def softmax_data(grad_output, output, dim):
    weighted = grad_output * output
    return (grad_output - (single.softmax_total(weighted, dim % output.ndim) if output.ndim else weighted)) * output


def log_softmax_data(grad_output, output, dim):
    return grad_output - single.exp(output) * (np.add.reduce(grad_output, dim, keepdims=True) if output.ndim else grad_output)


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


def softmax(self, dim, dtype=None):
    return softmax_dim(as_dtype(self, dtype.array) if dtype else self, dim)


def log_softmax(self, dim, dtype=None):
    return log_softmax_dim(as_dtype(self, dtype.array) if dtype else self, dim)


def elu_(self, alpha=1.0):
    return in_place(elu_written)(self, alpha, 1, 1)


def celu_(self, alpha=1.0):
    return in_place(celu_written)(self, alpha)


def selu(self):
    return elu(self, SELU_ALPHA, SELU_SCALE, 1)


def selu_(self):
    return in_place(elu_written)(self, SELU_ALPHA, SELU_SCALE, 1)


SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def relu6(self):
    return hardtanh(self, 0, 6)


def logsigmoid(self):
    return log_sigmoid_forward(self)[0]


def softmax_backward_of(grad_output, output, dim, input_dtype):
    return softmax_backward_data(grad_output, output, dim)


def log_softmax_backward_of(grad_output, output, dim, input_dtype):
    return log_softmax_backward_data(grad_output, output, dim)


publish(
    globals(),
    both="relu softmax log_softmax prelu hardshrink",
    functions="""_softmax_backward_data:softmax_backward_of _log_softmax_backward_data:log_softmax_backward_of threshold celu celu_ selu
        selu_""",
    in_place_both="relu",
)
FUNCTIONS["threshold_"] = guarded(in_place(threshold), "threshold_", "functions")
