"""Derivatives of the normalisations: an op of its own for the first, the op taken apart for the others."""

import numpy as np

from gradrepl.engine.backward import grad as gradients
from gradrepl.engine.declare import formula
from gradrepl.engine.gradients import arrays
from gradrepl.engine.modes import enable_grad, is_grad_enabled
from gradrepl.engine.ops.nn_normalization import batch_norm_backward_parts, centered, channel_sums, layer_norm_backward_parts
from gradrepl.engine.ops.shapes import alias_of
from gradrepl.engine.tensor import Tensor


def spread(parts, mask):
    """The parts that were asked for, each at its place."""
    parts = iter(parts)
    return [next(parts) if wanted else None for wanted in mask]


def derived(composed, tensors, grads, wanted):
    """The gradients of something composed of ops, by running it once more and going back through it."""
    recorded = is_grad_enabled()
    with enable_grad():
        tensors = [apart(tensor, want, recorded) for tensor, want in zip(tensors, wanted)]
        asked = [tensor for tensor, want in zip(tensors, wanted) if want]
        outputs = composed(*tensors)
        pairs = [(out, grad) for out, grad in zip(outputs, grads) if grad is not None and out.requires_grad]
        if not pairs:
            return [None] * len(wanted)
        outputs, grads = zip(*pairs)
        found = gradients(outputs, asked, grads, create_graph=recorded, allow_unused=True)
    return spread(found, wanted)


def apart(tensor, want, recorded):
    """An input as one that depends on no other: in a graph, the gradient that flowed in may be made from the op's input."""
    if not isinstance(tensor, Tensor) or recorded and not want:
        return tensor
    if recorded:
        return alias_of(tensor)
    tensor = tensor.detach()
    tensor.needs_grad = bool(want)
    return tensor


# ---- batch normalisation


def shaped(values, like):
    return values.reshape(1, -1, *(1,) * (like.dim() - 2))


@formula
def native_batch_norm_backward(grad, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask):
    options = running_mean, running_var, save_mean, save_invstd, train, eps, tuple(map(bool, mask))
    return spread(batch_norm_backward_parts(grad, input, weight, *options), mask)


@arrays(native_batch_norm_backward)
def native_batch_norm_backward_of_arrays(grad, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask):
    options = running_mean, running_var, save_mean, save_invstd, train, eps, mask
    return spread(batch_norm_backward_parts.declaration.forward(grad, input, weight, *options), mask)


@formula
def batch_norm_double_backward(grads, grad_out, input, weight, running_mean, running_var, train, eps, output_mask, wanted):
    def composed(grad_out, input, weight):
        dims = (0, *range(2, input.dim()))
        if train:
            mean = input.mean(dims, True)
            inverse = ((input - mean).pow(2).mean(dims, True) + eps).rsqrt()
        else:
            mean, inverse = shaped(running_mean, input), (shaped(running_var, input) + eps).rsqrt()
        normed = (input - mean) * inverse
        scale = inverse if weight is None else inverse * shaped(weight, input)
        inner = grad_out - grad_out.mean(dims, True) - normed * (grad_out * normed).mean(dims, True) if train else grad_out
        parts = inner * scale, (grad_out * normed).sum(dims), grad_out.sum(dims)
        return [part for part, asked in zip(parts, output_mask) if asked]

    return derived(composed, (grad_out, input, weight), grads, wanted)


# ---- layer normalisation


@formula
def native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, mask):
    return spread(layer_norm_backward_parts(grad, input, normalized_shape, mean, rstd, weight, tuple(map(bool, mask))), mask)


@arrays(native_layer_norm_backward)
def native_layer_norm_backward_of_arrays(grad, input, normalized_shape, mean, rstd, weight, bias, mask):
    return spread(layer_norm_backward_parts.declaration.forward(grad, input, normalized_shape, mean, rstd, weight, mask), mask)


@formula
def layer_norm_double_backward(grads, grad_out, input, normalized_shape, weight, mean, rstd, output_mask, wanted):
    """The square root's eps stands in `rstd`: 1 / rstd^2 is the variance with it."""
    dims, lead = tuple(range(-len(normalized_shape), 0)), tuple(range(input.dim() - len(normalized_shape)))
    eps = (rstd.pow(-2) - (input - mean).pow(2).mean(dims, True)).detach()

    def composed(grad_out, input, weight):
        center = input - input.mean(dims, True)
        inverse = (center.pow(2).mean(dims, True) + eps).rsqrt()
        normed = center * inverse
        grad = grad_out if weight is None else grad_out * weight
        inner = grad - grad.mean(dims, True) - normed * (grad * normed).mean(dims, True)
        over = lambda x: x.sum(lead) if lead else x
        parts = inner * inverse, over(grad_out * normed), over(grad_out)
        return [part for part, asked in zip(parts, output_mask) if asked]

    return derived(composed, (grad_out, input, weight), grads, wanted)


# ---- group normalisation: PyTorch too composes it where backward is recorded


@formula
def native_group_norm_backward(grads, input, mean, rstd, weight, N, C, HxW, group, eps, mask):  # noqa: N803
    grad, of_mean, of_rstd = grads
    per, rows = C // group, (N, group, C // group, HxW)
    grad, x = (input * 0 if grad is None else grad).reshape(rows), input.reshape(rows)
    inverse, center = rstd.reshape(N, group, 1, 1), mean.reshape(N, group, 1, 1)
    if is_grad_enabled():
        center = x.mean((2, 3), True)
        inverse = ((x - center).pow(2).mean((2, 3), True) + eps).rsqrt()
    normed = (x - center) * inverse
    of_input = None
    if mask[0]:
        scaled = grad if weight is None else grad * weight.reshape(1, group, per, 1)
        of_input = (scaled - scaled.mean((2, 3), True) - normed * (scaled * normed).mean((2, 3), True)) * inverse
        of_statistics = 0 if of_mean is None else of_mean.reshape(N, group, 1, 1)
        if of_rstd is not None:
            of_statistics = of_statistics - of_rstd.reshape(N, group, 1, 1) * normed * inverse * inverse
        if of_mean is not None or of_rstd is not None:
            of_input = of_input + of_statistics / (per * HxW)
        of_input = of_input.reshape(input.shape)
    return [
        of_input,
        (grad * normed).sum((0, 3)).reshape(-1) if mask[1] else None,
        grad.sum((0, 3)).reshape(-1) if mask[2] else None,
    ]


@arrays(native_group_norm_backward)
def native_group_norm_backward_of_arrays(grads, input, mean, rstd, weight, N, C, HxW, group, eps, mask):  # noqa: N803
    grad, *of_statistics = grads
    rows, x = (N, group, C // group, HxW), input.reshape(N * group, C // group * HxW)
    grad = np.zeros(rows, input.dtype) if grad is None else grad.reshape(rows)
    normed = ((x - mean.reshape(-1, 1)) * rstd.reshape(-1, 1)).reshape(rows)
    of_input = None
    if mask[0]:
        of_input = centered(grad if weight is None else grad * weight.reshape(1, group, -1, 1), normed, rstd)
        for of_one, slope in zip(of_statistics, (1, -normed * np.square(rstd.reshape(N, group, 1, 1)))):
            if of_one is not None:
                of_input += of_one.reshape(N, group, 1, 1) * slope / (C // group * HxW)
        of_input = of_input.reshape(input.shape)
    return [
        of_input,
        channel_sums((grad * normed).reshape(N, C, HxW)).astype(input.dtype) if mask[1] else None,
        channel_sums(grad.reshape(N, C, HxW)).astype(input.dtype) if mask[2] else None,
    ]


# ---- weights as length times direction


@formula
def weight_norm_backward(grad, v, g, norms, dim, mask):
    """Along v only the length counts, across it only the direction."""
    others = tuple(d for d in range(v.dim()) if d != dim)
    along = (grad * v).sum(others, True)
    of_v = (g / norms) * (grad - v * (along / (norms * norms))) if mask[0] else None
    return [of_v, along / norms if mask[1] else None]
