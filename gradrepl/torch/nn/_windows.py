"""torch.nn.functional's sliding windows and resampling, on the engine's ops; functional.py shows them."""

__name__ = "torch.nn.functional"

import math

import gradrepl.engine.nn
from gradrepl import torch
from gradrepl.engine.advice import warn
from gradrepl.engine.ops import nn_pooling as pooling
from gradrepl.engine.ops import nn_upsampling as resampling
from gradrepl.engine.ops.nn_convolution import col2im, im2col
from gradrepl.engine.ops.nn_pooling import avg_pool2d_public as avg_pool2d
from gradrepl.engine.ops.nn_pooling import avg_pool3d_public as avg_pool3d
from gradrepl.engine.ops.padding import pad
from gradrepl.engine.public import FUNCTIONS
from gradrepl.torch.nn._grids import affine_grid, grid_sample

conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    FUNCTIONS[name] for name in "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d".split()
)
avg_pool1d, adaptive_avg_pool1d = FUNCTIONS["avg_pool1d"], FUNCTIONS["adaptive_avg_pool1d"]
channel_shuffle, pixel_shuffle, pixel_unshuffle = (FUNCTIONS[f"{name}shuffle"] for name in ("channel_", "pixel_", "pixel_un"))
native_channel_shuffle = channel_shuffle


def tuple_of(value, dims):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


# ---- maxima


def with_or_without(name, pool):
    """A pooling function that gives its indices too, and one that does so only if asked."""

    def with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode)

    def without(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        found = pool(input, kernel_size, stride, padding, dilation, ceil_mode)
        return found if return_indices else found[0]

    with_indices.__name__, without.__name__ = f"{name}_with_indices", name
    return with_indices, without


max_pool1d_with_indices, max_pool1d = with_or_without("max_pool1d", pooling.max_pool1d_and_indices)
max_pool2d_with_indices, max_pool2d = with_or_without("max_pool2d", pooling.max_pool2d_and_indices)
max_pool3d_with_indices, max_pool3d = with_or_without("max_pool3d", pooling.max_pool3d_and_indices)


def filled(output_size, input, dims):
    """An adaptive output size, its None taken from the input."""
    if isinstance(output_size, int):
        return output_size
    sizes = input.shape[-len(output_size) :]
    return tuple(n if size is None else size for size, n in zip(output_size, sizes))


def adaptive_avg_pool2d(input, output_size):
    return pooling.adaptive_avg(input, filled(output_size, input, 2), 2)


def adaptive_avg_pool3d(input, output_size):
    return pooling.adaptive_avg(input, filled(output_size, input, 3), 3)


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    return pooling.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return pooling.adaptive_max(input, filled(output_size, input, 2), 2)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    return pooling.adaptive_max(input, filled(output_size, input, 3), 3)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    found = adaptive_max_pool1d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    found = adaptive_max_pool2d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    found = adaptive_max_pool3d_with_indices(input, output_size)
    return found if return_indices else found[0]


def fractional(input, kernel_size, output_size, output_ratio, samples, dims):
    if output_size is None and output_ratio is None:
        raise ValueError(f"fractional_max_pool{dims}d requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = tuple_of(output_ratio, dims)
        output_size = [int(n * ratio) for n, ratio in zip(input.shape[-dims:], ratios)]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = torch.rand(batch, input.size(-dims - 1), dims, dtype=input.dtype)
    pool = getattr(pooling, f"fractional_max_pool{dims}d")
    return pool(input, tuple_of(kernel_size, dims), tuple_of(output_size, dims), samples)


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return fractional(input, kernel_size, output_size, output_ratio, _random_samples, 2)


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return fractional(input, kernel_size, output_size, output_ratio, _random_samples, 3)


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    found = fractional(input, kernel_size, output_size, output_ratio, _random_samples, 2)
    return found if return_indices else found[0]


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    found = fractional(input, kernel_size, output_size, output_ratio, _random_samples, 3)
    return found if return_indices else found[0]


def unpooled_size(input, kernel_size, stride, padding, output_size):
    """The size before pooling: the usual one, or one of those that pool to this size."""
    dims = len(kernel_size)
    usual = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(input.shape[-dims:], stride, kernel_size, padding)]
    if output_size is None:
        return usual
    output_size = list(output_size)
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of '{len(output_size)}'"
        )
    for d, (size, n, s) in enumerate(zip(output_size, usual, stride)):
        if not n - s < size < n + s:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {n - s} and {n + s})')
    return output_size


def check_unpool(input, indices):
    if str(indices.dtype) != "torch.int64":
        kind = indices.type().rsplit(".", 1)[-1].removesuffix("Tensor")
        raise RuntimeError(f"elements in indices should be type int64 but got: {kind}")
    if input.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )


def unpool(input, indices, kernel_size, stride, padding, output_size, dims):
    kernel = tuple_of(kernel_size, dims)
    stride = kernel if stride is None else tuple_of(stride, dims)
    check_unpool(input, indices)
    sizes = unpooled_size(input, kernel, stride, tuple_of(padding, dims), output_size)
    plane = math.prod(sizes)
    if indices.numel() and (int(indices.max()) >= plane or int(indices.min()) < 0):
        raise RuntimeError(f"Found an invalid max index: {int(indices.max())} (output volumes are of size {'x'.join(map(str, sizes))}")
    return getattr(pooling, f"max_unpool{max(dims, 2)}d"), tuple(sizes)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    run, (size,) = unpool(input, indices, kernel_size, stride, padding, output_size, 1)
    return run(input.unsqueeze(-1), indices.unsqueeze(-1), (size, 1)).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    run, sizes = unpool(input, indices, kernel_size, stride, padding, output_size, 2)
    return run(input, indices, sizes)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    run, sizes = unpool(input, indices, kernel_size, stride, padding, output_size, 3)
    return run(input, indices, sizes)


# ---- norms


def lp_pool(input, norm_type, kernel_size, stride, ceil_mode, pool, dims):
    if stride is None:
        stride = kernel_size
    means = pool(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    count = math.prod(tuple_of(kernel_size, dims))
    return (torch.sign(means) * torch.relu(torch.abs(means))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return lp_pool(input, norm_type, kernel_size, stride, ceil_mode, avg_pool1d, 1)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return lp_pool(input, norm_type, kernel_size, stride, ceil_mode, avg_pool2d, 2)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return lp_pool(input, norm_type, kernel_size, stride, ceil_mode, avg_pool3d, 3)


# ---- blocks


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    if input.dim() not in (3, 4):
        if input.dim() < 3:
            low = -max(input.dim(), 1)
            raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {-low - 1}], but got {input.dim()})")
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {list(input.shape)}"
        )
    return im2col(input, *(tuple_of(x, 2) for x in (kernel_size, dilation, padding, stride)))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    options = [tuple_of(x, 2) for x in (output_size, kernel_size, dilation, padding, stride)]
    if input.dim() not in (2, 3):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch "
            f"size and non-zero dimensions for input, but got: {list(input.shape)}"
        )
    output_size, kernel, dilation, padding, stride = options
    if input.size(-2) % math.prod(kernel):
        raise RuntimeError(
            f"Expected size of input's dimension {input.dim() - 2} to be divisible by the product of kernel_size, but got "
            f"input.size({input.dim() - 2})={input.size(-2)} and kernel_size={kernel}."
        )
    along = zip(output_size, kernel, dilation, padding, stride)
    high, wide = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in along)
    if input.size(-1) != high * wide:
        raise RuntimeError(
            f"Given output_size={output_size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, expected "
            f"size of input's dimension {input.dim() - 1} to match the calculated number of sliding blocks {high} * {wide} = {high * wide}"
            f", but got input.size({input.dim() - 1})={input.size(-1)}."
        )
    return col2im(input, output_size, kernel, dilation, padding, stride)


# ---- resampling

MODES = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
INTERPOLATING = "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"


def sizes_and_scales(input, size, scale_factor, recompute_scale_factor):
    """(output size, scales): what was not given follows from the other."""
    spatial = input.shape[2:]
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        size = tuple_of(size, len(spatial))
        if len(size) != len(spatial):
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{list(spatial)} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size "
                "in (o1, o2, ...,oK) format."
            )
        if recompute_scale_factor:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return size, None
    scales = tuple_of(scale_factor, len(spatial))
    if len(scales) != len(spatial):
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(spatial)} and scale_factor of shape {scales}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    size = tuple(math.floor(float(n) * scale) for n, scale in zip(spatial, scales))
    return size, None if recompute_scale_factor else tuple(map(float, scales))


def check_mode(input, mode, align_corners, antialias):
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(INTERPOLATING)
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.dim() == 4):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input")
    wanted = MODES.get(mode)
    if input.dim() in (3, 4, 5) and wanted not in (None, input.dim()) and mode != "bicubic":
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {wanted}D input")
    known = mode in ("nearest", "nearest-exact", "area") or wanted == input.dim()
    if input.dim() not in (3, 4, 5) or not known:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | linear | bilinear | "
            f"bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    size, scales = sizes_and_scales(input, size, scale_factor, recompute_scale_factor)
    check_mode(input, mode, align_corners, antialias)
    dims = input.dim() - 2
    check_sizes(input, size)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dims - 1](input, size)
    if mode in ("nearest", "nearest-exact"):
        return (resampling.NEAREST if mode == "nearest" else resampling.NEAREST_EXACT)[dims](input, size, scales)
    if mode == "bicubic":
        return (resampling.CUBIC_SMOOTH if antialias else resampling.CUBIC)(input, size, bool(align_corners), scales)
    run = resampling.LINEAR_SMOOTH if antialias else resampling.LINEAR[dims]
    return run(input, size, bool(align_corners), scales)


def check_sizes(input, size):
    if min(size) > 0 and min(input.shape[2:]) > 0:
        return
    names = ("W", "H W", "D H W")[len(size) - 1].split()
    tell = lambda values: ", ".join(f"{name}: {value}" for name, value in zip(names, values))
    joined = " and" * (len(size) == 1)
    given = f"input ({tell(input.shape[2:])}){joined} output ({tell(size)})"
    raise RuntimeError(f"Input and output sizes should be greater than 0, but got {given}")


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
