"""Images resampled: every dimension by a matrix of its own, which a backward transposes; shuffles of channels and pixels; grids."""

import functools
import re

import numpy as np

from gradrepl.engine.declare import formula, op
from gradrepl.engine.factories import spaced
from gradrepl.engine.layout import dense
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of

# ---- the matrices: a row for each output place, a column for each input place


def ratio(n, count, scale, kind, align_corners=False):
    """The step in the input between neighbours in the output, in the precision of PyTorch's kernels."""
    if align_corners:
        return kind(n - 1) / kind(count - 1) if count > 1 else kind(0)
    return kind(1 / scale) if scale is not None and scale > 0 else kind(n) / kind(count)


@functools.lru_cache(64)
def nearest_places(n, count, scale, exact):
    if count == n and not exact:
        return np.arange(n)
    half = np.float32(0.5 if exact else 0)
    found = np.floor((np.arange(count, dtype=np.float32) + half) * ratio(n, count, scale, np.float32)).astype(np.int64)
    return np.minimum(found, n - 1)


def matrix_of(n, places, weights):
    """Rows that hold `weights` at `places`; places outside are moved to the edge."""
    matrix = np.zeros((len(places), n))
    rows = np.arange(len(places))
    for column in range(places.shape[1]):
        np.add.at(matrix, (rows, np.clip(places[:, column], 0, n - 1)), weights[:, column])
    return matrix


def centers(n, count, scale, kind, align_corners, cubic=False):
    step, at = ratio(n, count, scale, kind, align_corners), np.arange(count, dtype=kind)
    if align_corners:
        return at * step
    found = (at + kind(0.5)) * step - kind(0.5)
    return found if cubic else np.maximum(found, 0)


@functools.lru_cache(64)
def linear_matrix(n, count, scale, kind, align_corners):
    at = centers(n, count, scale, kind, align_corners)
    low = np.floor(at).astype(np.int64)
    part = (at - low).astype(np.float64)
    return matrix_of(n, np.stack([low, low + 1], 1), np.stack([1 - part, part], 1))


def cubic_weight(x, a=-0.75):
    """Keys' kernel."""
    x = np.abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


@functools.lru_cache(64)
def cubic_matrix(n, count, scale, kind, align_corners):
    at = centers(n, count, scale, kind, align_corners, cubic=True).astype(np.float64)
    places = np.floor(at).astype(np.int64)[:, None] + np.arange(-1, 3)
    return matrix_of(n, places, cubic_weight(at[:, None] - places))


@functools.lru_cache(64)
def smooth_matrix(n, count, scale, kind, align_corners, cubic):
    """Antialiased: the kernel is as wide as the step, where that is more than one."""
    step = float(ratio(n, count, scale, kind, align_corners))
    support = (2.0 if cubic else 1.0) * max(step, 1.0)
    matrix, kernel = np.zeros((count, n)), (lambda x: cubic_weight(x, -0.5)) if cubic else (lambda x: np.maximum(1 - np.abs(x), 0))
    for row in range(count):
        middle = step * (row + 0.5)
        low, high = max(int(middle - support + 0.5), 0), min(int(middle + support + 0.5), n)
        weights = kernel((np.arange(low, high) - middle + 0.5) / max(step, 1.0))
        matrix[row, low:high] = weights / weights.sum()
    return matrix


def nearest_matrix(n, count, scale, exact):
    return matrix_of(n, nearest_places(n, count, scale, exact)[:, None], np.ones((count, 1)))


def resampled(x, matrices):
    """Apply one matrix to each of the last dimensions."""
    out = x
    for axis, matrix in enumerate(matrices, start=x.ndim - len(matrices)):
        out = np.moveaxis(np.moveaxis(out, axis, -1) @ matrix.T.astype(x.dtype), -1, axis)
    return dense(np.ascontiguousarray(out))


# ---- ops


def along(matrix, sizes, output_size, scales, *settings):
    """The matrix of every dimension."""
    scales = scales or (None,) * len(output_size)
    return [matrix(n, count, scale, *settings) for n, count, scale in zip(sizes, output_size, scales)]


def kind_of(array):
    return np.float64 if array.dtype == np.float64 else np.float32


def nearest(node, name, exact):
    """Nearest neighbours: the op and its backward."""

    def upsample(self, output_size, scales=None):
        places = along(nearest_places, self.shape[2:], output_size, scales, exact)
        return dense(np.ascontiguousarray(self[(slice(None), slice(None), *np.ix_(*places))]))

    def upsample_backward(grad_output, output_size, input_size, scales=None):
        return resampled(grad_output, [m.T for m in along(nearest_matrix, input_size[2:], output_size, scales, exact)])

    return declared(node, name, upsample, upsample_backward, "scales")


def smooth(node, name, matrix, *settings):
    """A weighted mean of neighbours: the op and its backward."""

    def upsample(self, output_size, align_corners, scales=None):
        return resampled(self, along(matrix, self.shape[2:], output_size, scales, kind_of(self), align_corners, *settings))

    def upsample_backward(grad_output, output_size, input_size, align_corners, scales=None):
        matrices = along(matrix, input_size[2:], output_size, scales, kind_of(grad_output), align_corners, *settings)
        return resampled(grad_output, [m.T for m in matrices])

    return declared(node, name, upsample, upsample_backward, "align_corners, scales")


SCALES = {1: ["scales"], 2: ["scales_h", "scales_w"], 3: ["scales_d", "scales_h", "scales_w"]}  # their names for PyTorch


def declared(node, name, forward, backward, options):
    forward.__name__, backward.__name__ = name, f"{name}_backward"
    back = op(f"{node}BackwardBackward0", grad_output=f"{name}(grad, output_size, {options})")(backward)
    made = op(f"{node}Backward0", self=f"{name}_backward(grad, output_size, self.sym_sizes(), {options})")(forward)
    made.declaration.parts = back.declaration.parts = dict(scales=SCALES[int(re.search(r"(\d)d", name)[1])])
    return made


NEAREST = {n: nearest(f"UpsampleNearest{n}D", f"upsample_nearest{n}d", False) for n in (1, 2, 3)}
NEAREST_EXACT = {n: nearest(f"UpsampleNearestExact{n}D", f"_upsample_nearest_exact{n}d", True) for n in (1, 2, 3)}
LINEAR = {
    1: smooth("UpsampleLinear1D", "upsample_linear1d", linear_matrix),
    2: smooth("UpsampleBilinear2D", "upsample_bilinear2d", linear_matrix),
    3: smooth("UpsampleTrilinear3D", "upsample_trilinear3d", linear_matrix),
}
CUBIC = smooth("UpsampleBicubic2D", "upsample_bicubic2d", cubic_matrix)
LINEAR_SMOOTH = smooth("UpsampleBilinear2DAa", "_upsample_bilinear2d_aa", smooth_matrix, False)
CUBIC_SMOOTH = smooth("UpsampleBicubic2DAa", "_upsample_bicubic2d_aa", smooth_matrix, True)

# ---- channels and pixels exchanged


@op("PixelShuffleBackward0", self="pixel_unshuffle_op(grad, upscale_factor)")
def pixel_shuffle_op(self, upscale_factor):
    r, (*lead, c, h, w) = upscale_factor, self.shape
    blocks = self.reshape(*lead, c // (r * r), r, r, h, w)
    n = len(lead)
    return blocks.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


@op("PixelUnshuffleBackward0", self="pixel_shuffle_op(grad, downscale_factor)")
def pixel_unshuffle_op(self, downscale_factor):
    r, (*lead, c, h, w) = downscale_factor, self.shape
    blocks = self.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    return blocks.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


@op("ChannelShuffleBackward0", self="channel_shuffle_op(grad, grad.shape[1] // groups)")
def channel_shuffle_op(self, groups):
    n, c, *sizes = self.shape
    return self.reshape(n, groups, c // groups, *sizes).swapaxes(1, 2).reshape(self.shape)


def need_image(name, self):
    if self.array.ndim < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {self.array.ndim} dimension(s)")


def pixel_shuffle(self, upscale_factor):
    need_image("pixel_shuffle", self)
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    if self.shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={self.shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return pixel_shuffle_op(self, upscale_factor)


def pixel_unshuffle(self, downscale_factor):
    need_image("pixel_unshuffle", self)
    if downscale_factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    for what, dim in (("height", -2), ("width", -1)):
        if self.shape[dim] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size({dim})={self.shape[dim]} is not "
                f"divisible by {downscale_factor}"
            )
    return pixel_unshuffle_op(self, downscale_factor)


def channel_shuffle(self, groups):
    if self.array.ndim <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(self.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if self.shape[1] % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {self.shape[1]} channels and {groups} groups.")
    return channel_shuffle_op(self, groups)


# ---- grids


def base_grid(size, align_corners, dtype):
    """The places of an image's pixels in [-1, 1], with a last column of ones: (pixels, dims + 1)."""
    axes = []
    for n in reversed(size[2:]):  # x first
        axis = spaced(-1, 1, n, dtype) if n > 1 else np.zeros(1, dtype)
        axes.append(axis if align_corners else axis * dtype.type(n - 1) / dtype.type(n))
    planes = np.meshgrid(*reversed(axes), indexing="ij")
    return np.stack([*[plane.ravel() for plane in reversed(planes)], np.ones(planes[0].size, dtype)], 1)


@op("AffineGridGeneratorBackward0", theta="affine_grid_generator_backward(grad, size, align_corners)")
def affine_grid_generator(theta, size, align_corners):
    grid = base_grid(size, align_corners, theta.dtype) @ theta.swapaxes(1, 2)
    return grid.reshape(size[0], *size[2:], len(size) - 2)


@formula
def affine_grid_generator_backward(grad, size, align_corners):
    base = tensor_of(base_grid(size, align_corners, grad.array.dtype))
    return grad.reshape(size[0], -1, len(size) - 2).transpose(1, 2) @ base


publish(
    globals(),
    functions="pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle:channel_shuffle affine_grid_generator",
)
