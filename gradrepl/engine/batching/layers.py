"""How the ops of layers are batched: their own batch takes the examples in, or their channels do. Imports rules."""

import numpy as np

from gradrepl.engine.batching.dispatch import by_slices, moved
from gradrepl.engine.batching.rules import rule
from gradrepl.engine.names import NAMES
from gradrepl.engine.tensor import Tensor, tensor_of

UPSAMPLING = " ".join(
    f"{kind} {kind}_backward"
    for kind in """upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d
        _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa
        _upsample_bicubic2d_aa""".split()
)
POOLING = """
    max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward _adaptive_avg_pool2d
    _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward max_unpool2d max_pool3d_with_indices
    max_pool3d_with_indices_backward avg_pool3d avg_pool3d_backward _adaptive_avg_pool3d _adaptive_avg_pool3d_backward adaptive_max_pool3d
    adaptive_max_pool3d_backward max_unpool3d
"""
PADDING = " ".join(f"{kind}_pad{n}d {kind}_pad{n}d_backward" for kind in ("reflection", "replication") for n in (1, 2, 3))
TILES = "im2col col2im pixel_shuffle_op pixel_unshuffle_op channel_shuffle_op"


def into(call, x, dim):
    """The examples side by side in a dimension of their own."""
    value = moved_to(call, x, dim) if call.holds(x) else moved(call.full(x), 0, dim)
    shape = value.array.shape
    return value.reshape(*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :])


def moved_to(call, x, dim):
    """The value with the batch at a place, by a permutation even if it stands there."""
    dims = [n for n in range(x.value.array.ndim) if n != x.bdim]
    dims.insert(dim, x.bdim)
    return NAMES["permute_dims"](x.value, tuple(dims))


def out_of(call, value, dim):
    """The examples apart again: the batch stands at `dim`."""
    shape = value.array.shape
    return call.wrap(NAMES["view_sizes"](value, (*shape[:dim], call.size, shape[dim] // call.size, *shape[dim + 1 :])), dim)


@rule(UPSAMPLING, POOLING, PADDING, TILES)
def by_own_batch(call, *args):
    """More examples in the batch that the op has already."""
    if call.name == "max_pool2d_with_indices" and args[0].array.ndim == 3:
        return call.wrap(call.function(call.front(args[0]), *args[1:]))
    names = list(NAMES[call.name].declaration.parameters)
    given = [
        into(call, x, 0) if isinstance(x, Tensor) else (x[0] * call.size, *x[1:]) if name == "input_size" else x
        for name, x in zip(names, args)
    ]
    found = call.function(*given)
    return tuple([out_of(call, x, 0) for x in found]) if isinstance(found, tuple) else out_of(call, found, 0)


@rule("grid_sampler_2d grid_sampler_3d")
def grid_sampler(call, input, grid, *options):
    """One grid samples the channels of all examples; else grids stand side by side as inputs do."""
    dim = 0 if call.holds(grid) else 1
    found = call.function(into(call, input, dim), grid if dim else into(call, grid, 0), *options)
    return out_of(call, found, dim)


# ---- convolutions


@rule("convolution")
def convolution(call, input, weight, bias, *options):
    *sizes, transposed, output_padding, groups = options
    if not call.holds(weight):
        own = bias is not None and not call.holds(bias)
        found = out_of(call, call.function(into(call, input, 0), weight, bias if own else None, *options), 0)
        bias = None if own else bias
    elif not call.holds(input) and groups == 1:
        found = out_of(call, call.function(input, into(call, weight, 1 if transposed else 0), None, *options), 1)
    else:
        options = (*sizes, transposed, output_padding, groups * call.size)
        found = out_of(call, call.function(into(call, input, 1), into(call, weight, 0), None, *options), 1)
    if bias is None:
        return found
    for _ in range(weight.array.ndim - 2):
        bias = NAMES["unsqueeze"](bias, -1)
    return found + bias


@rule("convolution_backward_parts")
def convolution_backward(call, grad_output, input, weight, *options):
    """The gradient of the input as that of a larger batch; others are sums over an example's own batch."""
    if call.holds(weight) or options[-1][1] or options[-1][2]:
        return by_slices(call, grad_output, input, weight, *options)
    found = call.function(into(call, grad_output, 0), into(call, input, 0), weight, *options)
    return tuple([out_of(call, x, 0) if i == 0 else x for i, x in enumerate(found)])


# ---- norms


def affine(result, weight, bias):
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


@rule("native_layer_norm")
def layer_norm(call, input, normalized_shape, weight, bias, eps):
    plain = not (call.holds(weight) or call.holds(bias))
    given = (weight, bias) if plain else (None, None)
    found = call.function(call.front(input), normalized_shape, *given, eps)
    found = call.wrap(found) if call.holds(input) else found
    return found if plain else (affine(found[0], weight, bias), *found[1:])


@rule("layer_norm_backward_parts")
def layer_norm_backward(call, grad_out, input, normalized_shape, mean, rstd, weight, output_mask):
    if output_mask[1] or output_mask[2] or call.holds(weight):
        return by_slices(call, grad_out, input, normalized_shape, mean, rstd, weight, output_mask)
    full = [call.full(x) for x in (grad_out, input)]
    found = call.function(*full, normalized_shape, call.full(mean), call.full(rstd), weight, output_mask)
    return tuple([call.wrap(x) if i == 0 else x for i, x in enumerate(found)])


@rule("native_group_norm")
def group_norm(call, input, weight, bias, N, C, HxW, group, eps):
    if not call.holds(input):
        found = call.function(input, None, None, N, C, HxW, group, eps)
    else:
        parts = call.function(into(call, input, 0), None, None, N * call.size, C, HxW, group, eps)
        found = [out_of(call, x, 0) for x in parts]
    shape = (C, *(1,) * (input.array.ndim - 2))
    weight, bias = (x if x is None else x.view(shape) for x in (weight, bias))
    return affine(found[0], weight, bias), *found[1:]


RUNNING = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, were not batched.\n"
    "If you are using a module and do not need eval mode, please set `track_running_stats` to be False.If you are using a prebuilt module "
    "and do not need eval mode, please see the functorch website for resources on how to patch your module to work with vmap"
)


@rule("native_batch_norm")
def batch_norm(call, input, weight, bias, running_mean, running_var, training, momentum, eps):
    """The channels of all examples side by side."""
    statistics = [running_mean, running_var]
    if training and any(x is not None and not call.holds(x) for x in statistics):
        raise RuntimeError(RUNNING)
    if training and running_mean is not None:
        return by_slices(call, input, weight, bias, running_mean, running_var, training, momentum, eps)
    flat = [x if x is None else call.full(x).reshape(-1) for x in statistics]
    result, *rest = call.function(into(call, input, 1), None, None, *flat, training, momentum, eps)
    turned = NAMES["transpose"](result, 0, 1)
    turned = turned.reshape(call.size, -1, *turned.array.shape[1:])
    shape = (-1, *(1,) * (input.array.ndim - 1))
    weight, bias = (x if x is None else x.view(shape) for x in (weight, bias))
    result = affine(call.wrap(turned), weight, bias)
    rest = [out_of(call, x, 0) if x is not None and x.array.size else x for x in rest]
    return NAMES["transpose"](result, 0, 1), *rest


# ---- tables of vectors


@rule("embedding_rows")
def embedding(call, weight, indices, *options):
    if not call.holds(weight):
        return call.wrap(call.function(weight, indices.value, *options), indices.bdim)
    if not call.holds(indices):
        return out_of(call, call.function(into(call, weight, 1), indices, *options), indices.array.ndim)
    rows = weight.array.shape[0]
    first = tensor_of((np.arange(call.size) * rows).reshape(call.size, *(1,) * indices.array.ndim))
    return call.wrap(call.function(into(call, weight, 0), call.front(indices) + first, *options))


ONE_HOT = "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."


@rule("one_hot")
def one_hot(call, tensor, num_classes=-1):
    if num_classes <= 0:
        raise RuntimeError(ONE_HOT)
    return call.wrap(call.function(call.front(tensor), num_classes))
