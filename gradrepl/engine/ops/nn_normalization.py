"""Normalisation, dropout and the affine maps: declarations and what users call."""

import math

import numpy as np

from gradrepl.engine.declare import Array, Maybe, op
from gradrepl.engine.modes import here
from gradrepl.engine.names import NAMES
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of

THREE = dict(outputs="result0, result1, result2", differentiable="result0")


def per_channel(values, ndim):
    return values.reshape(1, -1, *(1,) * (ndim - 2))


def precise(x):
    """PyTorch adds float32 up in float64 here."""
    return x if x.dtype.kind == "c" else x.astype(np.float64)


def row_sums(rows):
    """The sum of every row: by BLAS, in half the time of NumPy's own."""
    return rows.dot(np.ones(rows.shape[1], rows.dtype))


def moments(rows):
    """The mean and the variance of every row."""
    wide = precise(rows)
    mean = row_sums(wide) / rows.shape[1]
    away = wide - mean[:, None]
    return mean, np.einsum("ij,ij->i", away, away) / rows.shape[1]


def channel_sums(x):
    """The sums over everything but channels, the second dimension."""
    rows = precise(x).reshape(x.shape[0] * x.shape[1], math.prod(x.shape[2:]))
    sums = row_sums(rows) if x.ndim > 2 else rows
    return np.ones(x.shape[0], rows.dtype).dot(sums.reshape(x.shape[:2]))


# ---- batch normalisation


def normalised(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """(normalised, mean, 1 / deviation); in training the running statistics are moved, without counting as a write."""
    if training:
        wide = precise(input)
        count = input.size / max(input.shape[1], 1)
        mean = channel_sums(wide) / count
        var = channel_sums(np.square(wide - per_channel(mean, input.ndim))) / count
        move(running_mean, mean, momentum)
        move(running_var, var * count / max(count - 1, 1), momentum)
        mean, inverse = mean.astype(input.dtype), (1 / np.sqrt(var + eps)).astype(input.dtype)
        saved = mean, inverse
    else:
        mean, inverse = running_mean, (1 / np.sqrt(precise(running_var) + eps)).astype(running_var.dtype)
        saved = np.zeros(0, input.dtype), np.zeros(0, input.dtype)
    scale = inverse if weight is None else inverse * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    out = input * per_channel(scale, input.ndim)
    out += per_channel(shift, input.ndim)
    return out.astype(input.dtype, copy=False), *saved


def batch_normalisation(node, name):
    """One of PyTorch's three operations that normalise a batch; only their nodes differ."""

    def forward(input, weight: Maybe, bias: Maybe, running_mean: Maybe, running_var: Maybe, training, momentum, eps):
        return normalised(input, weight, bias, running_mean, running_var, training, momentum, eps)

    forward.__name__ = name
    saved = "running_mean, running_var, result1, result2, training, eps, grad_input_mask"
    return op(node, {"input, weight, bias": f"native_batch_norm_backward(grad, input, weight, {saved})"}, **THREE)(forward)


native_batch_norm = batch_normalisation("NativeBatchNormBackward0", "native_batch_norm")
batch_norm_legit = batch_normalisation("NativeBatchNormLegitBackward0", "batch_norm_legit")
batch_norm_by_itself = batch_normalisation("NativeBatchNormLegitBackward1", "batch_norm_by_itself")
batch_norm_no_training = batch_normalisation("NativeBatchNormLegitNoTrainingBackward0", "batch_norm_no_training")


def _native_batch_norm_legit(input, weight, bias, *rest):
    if len(rest) == 3:  # training, momentum, eps: no running statistics
        return batch_norm_by_itself(input, weight, bias, None, None, *rest)
    return batch_norm_legit(input, weight, bias, *rest)


def _native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps):
    return batch_norm_no_training(input, weight, bias, running_mean, running_var, False, momentum, eps)


def move(running, found, momentum):
    if running is not None:
        running[...] = momentum * found + (1 - momentum) * running


@op(
    "NativeBatchNormBackwardBackward0",
    {
        "grad_out, input, weight": "batch_norm_double_backward(grads, grad_out, input, weight, running_mean, running_var, train, eps, "
        "output_mask, grad_input_mask)"
    },
    outputs="*",
)
def batch_norm_backward_parts(
    grad_out, input, weight: Maybe, running_mean: Maybe, running_var: Maybe, save_mean: Array, save_invstd: Array, train, eps, output_mask
):
    """Of the gradients of input, weight and bias those that are asked for."""
    ndim, parts = input.ndim, []
    mean, inverse = (save_mean, save_invstd) if train else (running_mean, 1 / np.sqrt(running_var + running_var.dtype.type(eps)))
    normed = (input - per_channel(mean, ndim)) * per_channel(inverse, ndim)
    total, weighed = channel_sums(grad_out), channel_sums(grad_out * normed)
    if output_mask[0]:
        scale = per_channel(inverse if weight is None else inverse * weight, ndim)
        if train:
            count = input.size // input.shape[1]
            center, slope = ((x / count).astype(input.dtype) for x in (total, weighed))
            parts.append((grad_out - per_channel(center, ndim) - normed * per_channel(slope, ndim)) * scale)
        else:
            parts.append(grad_out * scale)
    parts += [weighed.astype(input.dtype)] * bool(output_mask[1]) + [total.astype(input.dtype)] * bool(output_mask[2])
    return parts


def check_statistics(input, **tensors):
    channels = input.shape[1] if input.array.ndim > 1 else 0
    for name, tensor in tensors.items():
        if tensor is not None and tensor.array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {tensor.array.size}")


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    if not training:
        for name, tensor in (("running_mean", running_mean), ("running_var", running_var)):
            if tensor is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
    check_statistics(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not input.array.size:
        return input.clone()
    if input.array.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True):
    """Batch normalisation with every sample's channels as channels of one sample."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    batch, channels = input.shape[:2]
    check_statistics(input, weight=weight, bias=bias)
    many = lambda tensor: None if tensor is None else tensor.repeat(batch)
    with_statistics = [None if x is None else tensor_of(np.tile(x.array, batch)) for x in (running_mean, running_var)]
    options = *with_statistics, use_input_stats, momentum, eps
    out = batch_norm(input.contiguous().view(1, batch * channels, *input.shape[2:]), many(weight), many(bias), *options)
    for running, found in zip((running_mean, running_var), with_statistics):
        if running is not None:
            running.array[...] = found.array.reshape(batch, channels).mean(0)
    return out.view(input.shape)


# ---- over the last dimensions, and over groups of channels


@op(
    "NativeLayerNormBackward0",
    {"input, weight, bias": "native_layer_norm_backward(grad, input, normalized_shape, result1, result2, weight, bias, grad_input_mask)"},
    **THREE,
)
def native_layer_norm(input, normalized_shape, weight: Maybe, bias: Maybe, eps):
    lead = input.ndim - len(normalized_shape)
    kept = *input.shape[:lead], *(1,) * len(normalized_shape)
    mean, var = moments(input.reshape(math.prod(kept), math.prod(normalized_shape)))
    mean, inverse = (x.astype(input.dtype).reshape(kept) for x in (mean, 1 / np.sqrt(var + eps)))
    out = input * inverse
    out -= mean * inverse
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, inverse


@op(
    "NativeLayerNormBackwardBackward0",
    {
        "grad_out, input, weight": "layer_norm_double_backward(grads, grad_out, input, normalized_shape, weight, mean, rstd, output_mask, "
        "grad_input_mask)"
    },
    outputs="*",
)
def layer_norm_backward_parts(grad_out, input, normalized_shape, mean: Array, rstd: Array, weight: Maybe, output_mask):
    lead = input.ndim - len(normalized_shape)
    others, parts = tuple(range(lead)), []
    normed = (input - mean) * rstd
    if output_mask[0]:
        grad = grad_out if weight is None else grad_out * weight
        parts.append(centered(grad, normed, rstd))
    if output_mask[1]:
        parts.append((grad_out * normed).sum(others))
    if output_mask[2]:
        parts.append(grad_out.sum(others))
    return parts


def centered(grad, normed, rstd):
    """The gradient of rows, given that of what they were normalised to."""
    rows, normed = (x.reshape(rstd.size, x.size // max(rstd.size, 1)) for x in (grad, normed))
    count = rows.dtype.type(rows.shape[1])
    center, slope = row_sums(rows) / count, np.einsum("ij,ij->i", rows, normed) / count
    answer = rows - center[:, None]
    answer -= normed * slope[:, None]
    answer *= rstd.reshape(-1, 1)
    return answer.reshape(grad.shape)


def check_normalized(input, normalized_shape, weight, bias, star="*, "):
    sizes = list(normalized_shape)
    if not sizes:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and list(tensor.shape) != sizes:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(tensor.shape)} and "
                f"normalized_shape = {sizes}"
            )
    if list(input.shape[-len(sizes) :]) != sizes:
        raise RuntimeError(
            f"Given normalized_shape={sizes}, expected input with shape "
            f"[{star}{', '.join(map(str, sizes))}], but got input of size{list(input.shape)}"
        )


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    normalized_shape = tuple(normalized_shape)
    check_normalized(input, normalized_shape, weight, bias)
    if input.array.dtype.kind not in "fc":
        raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{SCALARS[input.array.dtype.name]}'")
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


@op(
    "NativeGroupNormBackward0",
    {"input, weight, bias": "native_group_norm_backward(grads, input, result1, result2, weight, N, C, HxW, group, eps, grad_input_mask)"},
    outputs="result0, result1, result2",
)
def native_group_norm(input, weight: Maybe, bias: Maybe, N, C, HxW, group, eps):  # noqa: N803
    mean, var = moments(input.reshape(N * group, C // group * HxW))
    mean, inverse = (x.astype(input.dtype).reshape(N, group) for x in (mean, 1 / np.sqrt(var + eps)))
    per = C // group
    scale, shift = np.repeat(inverse, per, 1), np.repeat(mean, per, 1)
    scale = scale if weight is None else scale * weight
    shift = -scale * shift if bias is None else -scale * shift + bias
    out = input.reshape(N, C, HxW) * scale[..., None] + shift[..., None]
    return out.reshape(input.shape), mean, inverse


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    batch, channels = input.shape[:2]
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, "
            f"but got input of shape {list(input.shape)} and num_groups={num_groups}"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and list(tensor.shape) != [channels]:
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(tensor.shape)} and input of shape {list(input.shape)}"
            )
    return native_group_norm(input, weight, bias, batch, channels, math.prod(input.shape[2:]), num_groups, eps)[0]


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x over the root of its mean square."""
    normalized_shape = tuple(normalized_shape)
    if input.array.ndim < len(normalized_shape):
        raise ValueError(f"Input tensor must have at least {len(normalized_shape)} dimensions, but got {input.array.ndim}")
    check_normalized(input, normalized_shape, weight, None, star="*")
    eps = float(np.finfo(input.array.dtype).eps) if eps is None else eps
    dims = tuple(range(-len(normalized_shape), 0))
    squares = NAMES["add_scalar"](input.pow(2).mean(dims, True), eps)
    normed = input * squares.rsqrt()
    return normed if weight is None else normed * weight


# ---- weights as length times direction


def norms_except(v, dim):
    return np.sqrt(np.square(v).sum(tuple(d for d in range(v.ndim) if d != dim), keepdims=True))


@op(
    "WeightNormInterfaceBackward0",
    {"v, g": "weight_norm_backward(grad, v, g, result1, dim, grad_input_mask)"},
    outputs="result0, result1",
    differentiable="result0",
)
def _weight_norm_interface(v, g, dim=0):
    norms = norms_except(v, dim)
    return v * (g / norms), norms


def norm_except_dim(v, pow=2, dim=0):
    """The norm over all dimensions but one; -1 leaves none."""
    if dim == -1:
        return v.norm(pow)
    rows = v.contiguous() if dim == 0 else v.transpose(0, dim).contiguous()
    norms = rows.view(rows.shape[0], -1).norm(pow, 1)
    shape = [1] * v.array.ndim
    shape[dim] = -1
    return norms.view(*shape)


def _weight_norm(v, g, dim=0):
    if dim in (0, v.array.ndim - 1):
        return _weight_norm_interface(v, g, dim)[0]
    return v * (g / norm_except_dim(v, 2, dim))


# ---- dropout


def dropped(input, p, train, shape_of, in_place, finish):
    if p < 0 or p > 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not train or not input.array.size:
        return input
    return finish(input, p, shape_of(input), in_place)


def every_element(input):
    return input.array.shape


def noise_like(input, shape):
    """Where the draws go: in the order in which the input lies in memory, if there is one for every element."""
    if here.mapping:
        return NAMES["noise_blank"](shape, input.array.dtype)
    return tensor_of(np.empty_like(input.array) if shape == input.array.shape else np.empty(shape, input.array.dtype))


def scaled_mask(input, p, shape, in_place):
    """Zeros where a draw says so, the rest made larger by what was lost."""
    if p == 1:
        mask = tensor_of(np.zeros(shape, input.array.dtype))
    else:
        mask = noise_like(input, shape).bernoulli_(1 - p)
        if here.mapping:
            mask.div_(1 - p)
        else:
            mask.array /= mask.array.dtype.type(1 - p)
    return input.mul_(mask) if in_place else input * mask


ALPHA = 1.7580993408473766  # minus the limit of SELU far below zero


def kept_mean_and_variance(input, p, shape, in_place):
    """Dropout to SELU's limit instead of zero, then shifted and scaled back."""
    if p == 1:
        zeros = tensor_of(np.zeros(shape, input.array.dtype))
        return input.mul_(zeros) if in_place else input * zeros
    noise = noise_like(input, shape).bernoulli_(1 - p).array
    a = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    kind = noise.dtype.type
    shift, scale = tensor_of((noise - kind(1)) * kind(ALPHA * a) + kind(ALPHA * a * p)), tensor_of(noise * kind(a))
    return input.mul_(scale).add_(shift) if in_place else input * scale + shift


def channels_only(input):
    if input.array.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.array.ndim - 2))


def dropout(input, p, train: bool):
    return dropped(input, p, train, every_element, False, scaled_mask)


def dropout_(input, p, train: bool):
    return dropped(input, p, train, every_element, True, scaled_mask)


@op("NativeDropoutBackward0", outputs="result0, result1", differentiable="result0", input="grad * (result1 * scale)")
def native_dropout_of(input, mask: Array, scale):
    return input * (mask * input.dtype.type(scale)), mask


def native_dropout(input, p, train):
    """(the input with zeros where a draw says so and the rest made larger, where it was kept)"""
    kept = np.ones(input.array.shape, bool)
    if train is not False and input.array.size:
        kept = tensor_of(np.empty_like(input.array)).bernoulli_(1 - p).array.astype(bool)
    scale = 1.0 if train is False else 0.0 if p == 1 else 1 / (1 - p)
    return native_dropout_of(input, tensor_of(kept), scale)


def feature_dropout(input, p, train: bool):
    return dropped(input, p, train, channels_only, False, scaled_mask)


def feature_dropout_(input, p, train: bool):
    return dropped(input, p, train, channels_only, True, scaled_mask)


def alpha_dropout(input, p, train: bool):
    return dropped(input, p, train, every_element, False, kept_mean_and_variance)


def alpha_dropout_(input, p, train: bool):
    return dropped(input, p, train, every_element, True, kept_mean_and_variance)


def feature_alpha_dropout(input, p, train: bool):
    return dropped(input, p, train, channels_only, False, kept_mean_and_variance)


def feature_alpha_dropout_(input, p, train: bool):
    return dropped(input, p, train, channels_only, True, kept_mean_and_variance)


publish(
    globals(),
    functions="""batch_norm native_batch_norm native_dropout _native_batch_norm_legit _native_batch_norm_legit_no_training
        instance_norm layer_norm native_layer_norm group_norm native_group_norm rms_norm dropout dropout_
        feature_dropout feature_dropout_ alpha_dropout alpha_dropout_ feature_alpha_dropout feature_alpha_dropout_
        _weight_norm _weight_norm_interface norm_except_dim""",
)
