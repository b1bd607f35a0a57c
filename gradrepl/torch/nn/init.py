"""torch.nn.init: parameters filled with numbers that let a network start learning."""

__name__ = __name__.removeprefix("gradrepl.")

import math
import warnings

from gradrepl import torch

NO_OP = "Initializing zero-element tensors is a no-op"
GAINS: dict[str, float] = dict.fromkeys("linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d sigmoid".split(), 1)
GAINS |= dict(tanh=5.0 / 3, relu=math.sqrt(2.0), selu=3.0 / 4)


def calculate_gain(nonlinearity, param=None):
    """How much a nonlinearity shrinks the variance, to be made up for by the weights."""
    if nonlinearity in GAINS:
        return GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with torch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with torch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """A normal distribution cut off at a and b: what falls outside is drawn anew."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.", stacklevel=2
        )
    low, high = ((1.0 + math.erf((bound - mean) / std / math.sqrt(2.0))) / 2.0 for bound in (a, b))
    with torch.no_grad():
        draw = _normals_within if high - low > 0.3 else _uniforms_accepted
        return draw(tensor, mean, std, a, b, generator)


def _normals_within(tensor, mean, std, a, b, generator):
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    result = tensor.normal_(mean, std, generator=generator)
    while (outside := (result < low) | (result > high)).any():
        result = torch.where(outside, torch.empty_like(result).normal_(mean, std, generator=generator), result)
    return tensor if result is tensor else tensor.copy_(result)


def _uniforms_accepted(tensor, mean, std, a, b, generator):
    """Where little of the normal lies within: uniform candidates, each kept with the density's share of its peak as probability."""
    log_peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(candidates):
        log_density = candidates.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        return torch.empty_like(candidates).uniform_(generator=generator).log_().gt(log_density)

    result = tensor.uniform_(a, b, generator=generator)
    pending = refused(result)
    while pending.any():
        candidates = torch.empty_like(tensor).uniform_(a, b, generator=generator)
        result = torch.where(pending, candidates, result)
        pending = pending & refused(candidates)
    return tensor if result is tensor else tensor.copy_(result)


def constant_(tensor, val):
    with torch.no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    with torch.no_grad():
        return tensor.zero_()


def eye_(tensor):
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with torch.no_grad():
        tensor.copy_(torch.eye(*tensor.shape))
    return tensor


def dirac_(tensor, groups=1):
    """Convolutions that change nothing, for as many channels as there are."""
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = sizes[0] // groups
    middle = tuple(size // 2 for size in sizes[2:])
    with torch.no_grad():
        tensor.zero_()
        for group in range(groups):
            for d in range(min(per_group, sizes[1])):
                tensor[(group * per_group + d, d, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor)))), generator)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        warnings.warn(NO_OP, stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        warnings.warn(NO_OP, stacklevel=2)
        return tensor
    return normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode)), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Rows (or columns, if there are fewer) that are orthonormal: the Q of a random matrix, its signs made uniform by R's."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    with torch.no_grad():
        flattened = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
        q, r = torch.linalg.qr(flattened.t() if rows < cols else flattened)
        q = q * torch.diag(r, 0).sign()
        tensor.view_as(q.t() if rows < cols else q).copy_(q.t() if rows < cols else q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers, and in every column as many zeros as asked."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    with torch.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(cols):
            tensor[torch.randperm(rows)[: math.ceil(sparsity * rows)], column] = 0
    return tensor


def deprecated(new):
    old = new.__name__.removesuffix("_")

    def filled(*args, **kwargs):
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new.__name__}`.", FutureWarning, stacklevel=2)
        return new(*args, **kwargs)

    filled.__name__ = old
    return filled


uniform, normal, constant, eye, dirac = map(deprecated, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal, orthogonal, sparse = map(
    deprecated, (xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_, orthogonal_, sparse_)
)
