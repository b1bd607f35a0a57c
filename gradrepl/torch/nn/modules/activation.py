"""torch.nn.modules.activation: elementwise functions as modules. MultiheadAttention stands in attention.py."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings

import gradrepl.torch.nn.functional as F
from gradrepl import torch
from gradrepl.torch.nn.modules.attention import MultiheadAttention
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.nn.parameter import Parameter


def configured(*names, **defaults):
    """The `__init__` and `extra_repr` of a module that only keeps its options: `name=value` in a row, `inplace` where it is set.

    The options stand in order; a name without a default must be given.
    """
    options = [*names, *defaults]

    def __init__(self, *args, **kwargs):
        Module.__init__(self)
        for name, value in zip(options, args):
            if name in kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got multiple values for argument '{name}'")
            kwargs[name] = value
        check_arguments(self, options, names, args, kwargs)
        for name in options:
            setattr(self, name, kwargs.get(name, defaults.get(name)))

    def extra_repr(self):
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in options if name != "inplace" or self.inplace)

    return __init__, extra_repr


def check_arguments(self, options, required, args, kwargs):
    where = f"{type(self).__name__}.__init__()"
    if len(args) > len(options):
        low, high = len(required) + 1, len(options) + 1
        takes = f"from {low} to {high}" if low != high else str(high)
        raise TypeError(f"{where} takes {takes} positional argument{'s' * (high > 1)} but {len(args) + 1} were given")
    for name in kwargs:
        if name not in options:
            raise TypeError(f"{where} got an unexpected keyword argument '{name}'")
    missing = [f"'{name}'" for name in required if name not in kwargs]
    if missing:
        plural = "s" * (len(missing) > 1)
        raise TypeError(f"{where} missing {len(missing)} required positional argument{plural}: {' and '.join(missing)}")


class ReLU(Module):
    """max(0, x)"""

    __constants__ = ["inplace"]
    __init__, extra_repr = configured(inplace=False)

    def forward(self, input):
        return F.relu(input, self.inplace)


class RReLU(Module):
    """A leaky ReLU with a random slope in training."""

    __constants__ = ["lower", "upper", "inplace"]
    __init__, extra_repr = configured(lower=1.0 / 8, upper=1.0 / 3, inplace=False)

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(Module):
    """min(max(x, min_val), max_val)"""

    __constants__ = ["min_val", "max_val", "inplace"]
    extra_repr = configured("min_val", "max_val", inplace=False)[1]

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        for old, value, new in (("min_value", min_value, "min_val"), ("max_value", max_value, "max_val")):
            if value is not None:
                warnings.warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=2)
        self.min_val, self.max_val = min_val if min_value is None else min_value, max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """min(max(0, x), 6)"""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x where it is above the threshold, else a value."""

    __constants__ = ["threshold", "value", "inplace"]
    __init__, extra_repr = configured("threshold", "value", inplace=False)

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)


class Sigmoid(Module):
    """1 / (1 + exp(-x))"""

    def forward(self, input):
        return torch.sigmoid(input)


class Hardsigmoid(Module):
    """A sigmoid of three straight lines."""

    __constants__ = ["inplace"]
    __init__ = configured(inplace=False)[0]

    def forward(self, input):
        return F.hardsigmoid(input, self.inplace)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input):
        return torch.tanh(input)


class SiLU(Module):
    """x sigmoid(x)"""

    __constants__ = ["inplace"]
    __init__, extra_repr = configured(inplace=False)

    def forward(self, input):
        return F.silu(input, inplace=self.inplace)


class Mish(Module):
    """x tanh(softplus(x))"""

    __constants__ = ["inplace"]
    __init__, extra_repr = configured(inplace=False)

    def forward(self, input):
        return F.mish(input, inplace=self.inplace)


class Hardswish(Module):
    """x hardsigmoid(x)"""

    __constants__ = ["inplace"]
    __init__ = configured(inplace=False)[0]

    def forward(self, input):
        return F.hardswish(input, self.inplace)


class ELU(Module):
    """x above zero, alpha (exp(x) - 1) below."""

    __constants__ = ["alpha", "inplace"]
    __init__, extra_repr = configured(alpha=1.0, inplace=False)

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)


class CELU(Module):
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1))"""

    __constants__ = ["alpha", "inplace"]
    __init__, extra_repr = configured(alpha=1.0, inplace=False)

    def forward(self, input):
        return F.celu(input, self.alpha, self.inplace)


class SELU(Module):
    """An ELU scaled to keep mean and variance."""

    __constants__ = ["inplace"]
    __init__, extra_repr = configured(inplace=False)

    def forward(self, input):
        return F.selu(input, self.inplace)


class GLU(Module):
    """The first half times the sigmoid of the second."""

    __constants__ = ["dim"]
    __init__, extra_repr = configured(dim=-1)

    def forward(self, input):
        return F.glu(input, self.dim)


class GELU(Module):
    """x times the normal distribution's cdf at x."""

    __constants__ = ["approximate"]
    __init__, extra_repr = configured(approximate="none")

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)


class Hardshrink(Module):
    """x outside [-lambd, lambd], else zero."""

    __constants__ = ["lambd"]
    __init__ = configured(lambd=0.5)[0]

    def forward(self, input):
        return F.hardshrink(input, self.lambd)

    def extra_repr(self):
        return f"{self.lambd}"


class LeakyReLU(Module):
    """x above zero, negative_slope x below."""

    __constants__ = ["inplace", "negative_slope"]
    __init__, extra_repr = configured(negative_slope=1e-2, inplace=False)

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x)))"""

    def forward(self, input):
        return F.logsigmoid(input)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta"""

    __constants__ = ["beta", "threshold"]
    __init__, extra_repr = configured(beta=1.0, threshold=20.0)

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)


class Softshrink(Module):
    """x moved towards zero by lambd."""

    __constants__ = ["lambd"]
    __init__ = configured(lambd=0.5)[0]
    extra_repr = Hardshrink.extra_repr

    def forward(self, input):
        return F.softshrink(input, self.lambd)


class PReLU(Module):
    """A leaky ReLU whose slope is learnt."""

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(torch.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        torch.nn.init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """x / (1 + |x|)"""

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x)"""

    def forward(self, input):
        return F.tanhshrink(input)


class Softmin(Module):
    """The softmax of -x."""

    __constants__ = ["dim"]
    __init__, extra_repr = configured(dim=None)

    def forward(self, input):
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(Module):
    """exp(x) over its sum along a dimension."""

    __constants__ = ["dim"]
    __init__, extra_repr = configured(dim=None)

    def forward(self, input):
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """The softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class LogSoftmax(Module):
    """log(softmax(x))"""

    __constants__ = ["dim"]
    __init__, extra_repr = configured(dim=None)

    def forward(self, input):
        return F.log_softmax(input, self.dim, _stacklevel=5)
