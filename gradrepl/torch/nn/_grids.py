"""torch.nn.functional's affine_grid and grid_sample; functional.py shows them."""

__name__ = "torch.nn.functional"

import itertools

from gradrepl import torch
from gradrepl.engine.advice import warn
from gradrepl.engine.declare import formula, op
from gradrepl.engine.formulas.nn_normalization import derived
from gradrepl.engine.modes import no_grad
from gradrepl.engine.ops.nn_upsampling import affine_grid_generator
from gradrepl.engine.tensor import tensor_of

CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if the "
    "old behavior is desired. See the documentation of grid_sample for details."
)
MODES, BORDERS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def affine_grid(theta, size, align_corners=None):
    if align_corners is None:
        warn(CHANGED)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}."
        )
    if theta.dim() != 3 or theta.shape[-2:] != (dims, dims + 1):
        shape = "Nx2x3" if dims == 2 else "Nx3x4"
        raise ValueError(f"Expected a batch of {dims}D affine matrices of shape {shape} for size {size}. Got {theta.shape}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, tuple(size), bool(align_corners))


# ---- sampling, composed of ops on tensors


def pixels(grid, size, align_corners):
    """[-1, 1] as places among the pixels. Rounded once, as in PyTorch: the gradient jumps where a pixel is hit."""
    return (grid + 1) * ((size - 1) / 2) if align_corners else ((grid + 1).double() * (size / 2) - 0.5).to(grid.dtype)


def reflected(places, low, high):
    """Places folded back at both ends (given twice, to keep halves whole)."""
    span = (high - low) / 2
    if span == 0:
        return places * 0
    away = (places - low / 2).abs()
    turns, rest = torch.floor(away / span), away.remainder(span)
    return torch.where(turns.remainder(2) == 0, rest + low / 2, span - rest + low / 2)


def bordered(places, size, border, align_corners):
    if border == 2:
        places = reflected(places, 0, 2 * (size - 1)) if align_corners else reflected(places, -1, 2 * size - 1)
    return places.clamp(0, size - 1) if border else places


def taken(input, places, sizes):
    """The pixels at whole places (one tensor a dimension), zero outside."""
    inside, flat = None, None
    for place, size in zip(places, sizes):
        fits = (place >= 0) & (place <= size - 1)
        inside = fits if inside is None else inside & fits
        index = place.clamp(0, size - 1).to(torch.int64)
        flat = index if flat is None else flat * size + index
    batch, channels = input.shape[:2]
    lines = flat.reshape(batch, 1, -1).expand(batch, channels, -1)
    found = input.reshape(batch, channels, -1).gather(2, lines).reshape(batch, channels, *flat.shape[1:])
    return found * inside.unsqueeze(1).to(input.dtype)


def cubic(t):
    """The four weights of Keys' kernel around a place at `t` between two pixels."""
    a = -0.75
    near = lambda x: ((a + 2) * x - (a + 3)) * x * x + 1
    far = lambda x: ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return far(t + 1), near(t), near(1 - t), far(2 - t)


def sampled(input, grid, mode, border, align_corners):
    sizes = input.shape[2:]
    places = [pixels(grid[..., i], size, align_corners) for i, size in enumerate(reversed(sizes))][::-1]
    if mode == 2:
        return sampled_cubic(input, places, sizes, border, align_corners)
    places = [bordered(place, size, border, align_corners) for place, size in zip(places, sizes)]
    if mode == 1:
        return taken(input, [torch.round(place.detach()) for place in places], sizes)
    lows = [torch.floor(place.detach()) for place in places]
    total = None
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight = None
        for place, low, side in zip(places, lows, corner):
            part = place - low if side else low + 1 - place
            weight = part if weight is None else weight * part
        value = taken(input, [low + side for low, side in zip(lows, corner)], sizes) * weight.unsqueeze(1)
        total = value if total is None else total + value
    return total


def sampled_cubic(input, places, sizes, border, align_corners):
    lows = [torch.floor(place.detach()) for place in places]
    weights = [cubic(place - low) for place, low in zip(places, lows)]
    total = None
    for i, j in itertools.product(range(4), repeat=2):
        at = [bordered(low + step - 1, size, border, align_corners) for low, step, size in zip(lows, (i, j), sizes)]
        value = taken(input, at, sizes) * (weights[0][i] * weights[1][j]).unsqueeze(1)
        total = value if total is None else total + value
    return total


def sampler(node, name):
    def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
        with no_grad():
            return sampled(tensor_of(input), tensor_of(grid), interpolation_mode, padding_mode, align_corners).array

    grid_sampler.__name__ = name
    joint = "grid_sampler_backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, grad_input_mask)"
    return op(node, {"input, grid": joint})(grid_sampler)


@formula
def grid_sampler_backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, mask):
    composed = lambda input, grid: [sampled(input, grid, interpolation_mode, padding_mode, align_corners)]
    found = derived(composed, (input, grid), [grad], mask)
    return [torch.zeros_like(x) if g is None and wanted else g for g, x, wanted in zip(found, (input, grid), mask)]


SAMPLERS = {2: sampler("GridSampler2DBackward0", "grid_sampler_2d"), 3: sampler("GridSampler3DBackward0", "grid_sampler_3d")}


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    if mode not in MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in BORDERS:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        warn(CHANGED)
    return grid_sampler(input, grid, MODES.index(mode), BORDERS.index(padding_mode), bool(align_corners))


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners: bool):
    """grid_sample with its modes as numbers."""
    dims = 4 if input.dim() == 4 else 5
    check_grid(input, grid, dims)
    return SAMPLERS[dims - 2](input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners: bool):
    check_grid(input, grid, 4)
    return SAMPLERS[2](input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners: bool):
    check_grid(input, grid, 5)
    return SAMPLERS[3](input, grid, interpolation_mode, padding_mode, align_corners)


def check_grid(input, grid, dims):
    sizes = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if grid.shape[0] != input.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got {sizes}")
    if grid.shape[-1] != input.dim() - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.dim() - 2} in last dimension, but got grid with sizes {list(grid.shape)}"
        )
    if input.dim() != dims or grid.dim() != dims:
        raise RuntimeError(f"grid_sampler(): expected {dims}D input and grid with same number of dimensions, but got {sizes}")
