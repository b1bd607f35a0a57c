"""torch.nn.functional's activations, on the engine's ops; functional.py shows them."""

__name__ = "torch.nn.functional"


from gradrepl.engine.advice import warn
from gradrepl.engine.dtypes import DTYPES
from gradrepl.engine.ops import activations as ops
from gradrepl.engine.ops.activations import glu, hardshrink, logsigmoid, prelu, softplus, softshrink
from gradrepl.engine.ops.pointwise import in_place

relu_, hardtanh_, threshold_ = (in_place(op) for op in (ops.relu, ops.hardtanh, ops.threshold))
elu_, celu_, selu_ = ops.elu_, ops.celu_, ops.selu_


def leaky_relu_(input, negative_slope=0.01):
    return in_place(ops.leaky_relu_written)(input, negative_slope)


def relu(input, inplace=False):
    return relu_(input) if inplace else ops.relu(input)


def threshold(input, threshold, value, inplace=False):
    return threshold_(input, threshold, value) if inplace else ops.threshold(input, threshold, value)


def relu6(input, inplace=False):
    return hardtanh(input, 0, 6, inplace)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hardtanh_(input, min_val, max_val) if inplace else ops.hardtanh(input, min_val, max_val)


def elu(input, alpha=1.0, inplace=False):
    return elu_(input, alpha) if inplace else ops.elu(input, alpha)


def selu(input, inplace=False):
    return selu_(input) if inplace else ops.selu(input)


def celu(input, alpha=1.0, inplace=False):
    return celu_(input, alpha) if inplace else ops.celu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return leaky_relu_(input, negative_slope) if inplace else ops.leaky_relu(input, negative_slope)


def gelu(input, *, approximate="none"):
    return ops.gelu(input, approximate)


def silu(input, inplace=False):
    return in_place(ops.silu)(input) if inplace else ops.silu(input)


def mish(input, inplace=False):
    return in_place(ops.mish)(input) if inplace else ops.mish(input)


def hardsigmoid(input, inplace=False):
    return in_place(ops.hardsigmoid)(input) if inplace else ops.hardsigmoid(input)


def hardswish(input, inplace=False):
    return in_place(ops.hardswish)(input) if inplace else ops.hardswish(input)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    noise = slopes(input, lower, upper) if training else input.new_empty(input.shape)
    run = in_place(ops.rrelu_with_noise_written) if inplace else ops.rrelu_with_noise
    return run(input, noise, lower, upper, training)


def slopes(input, lower, upper):
    """A random slope for each element that is not positive, drawn in their order; 1 for the others."""
    drawn = input.new_empty((int((input <= 0).sum()),), dtype=DTYPES["float64"]).uniform_(lower, upper)
    noise = input.detach().new_ones(input.shape)
    noise.array[input.array <= 0] = drawn.array
    return noise


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    return rrelu(input, lower, upper, training, True)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def tanh(input):
    return input.tanh()


def sigmoid(input):
    return input.sigmoid()


def implied_dim(name, ndim):
    """The dimension that was meant before `dim` had to be given."""
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = implied_dim("softmax", input.dim()) if dim is None else dim
    return input.softmax(dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    dim = implied_dim("softmin", input.dim()) if dim is None else dim
    return (-input).softmax(dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = implied_dim("log_softmax", input.dim()) if dim is None else dim
    return input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -logits.new_empty(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.max(dim, keepdim=True)[1]
    return logits.new_zeros(logits.shape).scatter_(dim, chosen, 1.0) - soft.detach() + soft
