"""Padding: constant, reflected, replicated, circular. Declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dims import require
from gradrepl.engine.ops.pointwise import copy_, number_as
from gradrepl.engine.ops.shapes import slice_dim
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of


def pairs_of(pad):
    """(before, after) of each dim, the last dim first."""
    return list(zip(pad[::2], pad[1::2]))


def widths(array, pad):
    """NumPy's pad widths of all dims."""
    return [(0, 0)] * (array.ndim - len(pad) // 2) + pairs_of(pad)[::-1]


@op("ConstantPadNdBackward0", self="constant_pad_nd_backward(grad, pad)")
def constant_pad(self, pad, value=0):
    require(len(pad) % 2 == 0, f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)}while the input has {self.ndim} dimensions."
        )
    shape = []
    for i, (n, (before, after)) in enumerate(zip(self.shape, widths(self, pad))):
        shape.append(n + before + after)
        if shape[-1] < 0 or before < 0 > n + before or after < 0 > n + after:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {before} and {after} resulted in a negative output size, which is invalid. "
                f"Check dimension {i} of your input."
            )
    out = np.full(shape, number_as(value, self.dtype))
    inside = [
        (slice(max(b, 0), n - max(a, 0)), slice(max(-b, 0), m - max(-a, 0))) for n, m, (b, a) in zip(shape, self.shape, widths(self, pad))
    ]
    out[tuple([o for o, _ in inside])] = self[tuple([i for _, i in inside])]
    return out


def source_of(mode, size, before, after):
    """For every place of a padded line, the place it is taken from."""
    places = np.arange(-before, size + after)
    if mode == "replicate":
        return places.clip(0, size - 1)
    places = np.abs(places)
    return np.where(places >= size, 2 * (size - 1) - places, places)


def padded(array, padding, mode):
    for i, (before, after) in enumerate(pairs_of(padding)):
        array = array.take(source_of(mode, array.shape[-1 - i], before, after), -1 - i)
    return np.ascontiguousarray(array)


def unpadded(grad, shape, padding, mode):
    """The transpose of padding: every place gets the sum of its copies' gradients."""
    for i, (before, after) in enumerate(pairs_of(padding)):
        lines = np.moveaxis(grad, -1 - i, 0)
        out = np.zeros((shape[-1 - i], *lines.shape[1:]), grad.dtype)
        np.add.at(out, source_of(mode, shape[-1 - i], before, after), lines)
        grad = np.moveaxis(out, 0, -1 - i)
    return np.ascontiguousarray(grad)


def check_padding(array, padding, mode, dims):
    """PyTorch's checks of what a reflected or replicated padding may be."""
    sizes = array.shape[array.ndim - dims :]
    if array.ndim not in (dims + 1, dims + 2) or 0 in array.shape[1:]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(array.shape)}"
        )
    for i, (before, after) in enumerate(pairs_of(padding)):
        n = sizes[-1 - i]
        if mode == "reflect" and (before >= n or after >= n):
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) at dimension {array.ndim - 1 - i} of input {list(array.shape)}"
            )


def declare_padding(mode, dims):
    """reflection_pad2d and its like, with its backward as an op of its own."""
    kind = {"reflect": "Reflection", "replicate": "Replication"}[mode]
    name = f"{kind.lower()}_pad{dims}d"

    def backward(grad_output, self, padding):
        return unpadded(grad_output, self.shape, padding, mode)

    def forward(self, padding):
        check_padding(self, padding, mode, dims)
        return padded(self, padding, mode)

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    op(f"{kind}Pad{dims}DBackwardBackward0", grad_output=f"{name}(grad, padding)", self="zeros_like(self)")(backward)
    return op(f"{kind}Pad{dims}DBackward0", self=f"{name}_backward(grad, self, padding)")(forward)


PADDINGS = {(mode, dims): declare_padding(mode, dims) for mode in ("reflect", "replicate") for dims in (1, 2, 3)}
globals().update({f.__name__: f for f in PADDINGS.values()})


def circular_pad(input, pad):
    """Built as PyTorch builds it: an empty tensor into which the middle, then each wrapped edge is copied."""
    dims = len(pad) // 2
    shape = list(input.array.shape)
    for i, (before, after) in enumerate(pairs_of(pad)):
        n = shape[-1 - i]
        require(before <= n and after <= n, "Padding value causes wrapping around more than once.")
        require(n + before + after >= 0, "Negative padding value is resulting in an empty dimension")
        shape[-1 - i] += before + after
    out = tensor_of(np.zeros(shape, input.array.dtype))
    middle, source = out, input
    for i, (before, after) in enumerate(pairs_of(pad)):
        dim = out.array.ndim - 1 - i
        middle = slice_dim(middle, dim, max(before, 0), shape[dim] - max(after, 0), 1)
        source = slice_dim(source, dim, max(-before, 0), input.array.shape[dim] - max(-after, 0), 1)
    copy_(middle, source)
    for i, (before, after) in enumerate(reversed(pairs_of(pad))):
        dim = out.array.ndim - dims + i
        copy_edges(out, dim, shape[dim], before, after)
    return out


def copy_edges(out, dim, size, before, after):
    if before > 0:
        copy_(slice_dim(out, dim, 0, before, 1), slice_dim(out, dim, size - before - max(after, 0), size - max(after, 0), 1))
    if after > 0:
        copy_(slice_dim(out, dim, size - after, size, 1), slice_dim(out, dim, max(before, 0), max(before, 0) + after, 1))


def pad(input, pad, mode="constant", value=None):
    """torch.nn.functional.pad."""
    pad, ndim = tuple(pad), input.array.ndim
    require(len(pad) % 2 == 0, "Padding length must be divisible by 2")
    if len(pad) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return constant_pad(input, pad, 0 if value is None else value)
    require(value is None or value == 0, f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pad) // 2
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if dims > 3 or ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    return circular_pad(input, pad) if mode == "circular" else PADDINGS[mode, dims](input, pad)


def constant_pad_nd(input, pad, value=0):
    return constant_pad(input, tuple(pad), value)


publish(globals(), functions="constant_pad_nd")
