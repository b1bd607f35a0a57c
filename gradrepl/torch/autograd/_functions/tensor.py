"""torch.autograd._functions.tensor: another dtype, and another shape."""

__name__ = __name__.removeprefix("gradrepl.")

from math import prod

from gradrepl.engine.advice import warn
from gradrepl.engine.function import Function

__all__ = ["Type", "Resize"]
SIZES = (
    "requested resize to {} ({} elements in total), but the given tensor has a size of {} ({} elements). autograd's resize can only change "
    "the shape of a given tensor, while preserving the number of elements. "
)


class Type(Function):
    """A tensor of another dtype."""

    @staticmethod
    def forward(ctx, i, dest_type):
        warn(
            "`torch.autograd._functions.Type` is deprecated as of PyTorch 2.1, please use `torch.tensor.to(dtype=dtype)` instead.",
            FutureWarning,
        )
        ctx.input_type = i.dtype
        return i.type(dest_type)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.type(ctx.input_type), None


class Resize(Function):
    """The elements in another shape."""

    @staticmethod
    def forward(ctx, tensor, sizes):
        ctx.input_size = tensor.size()
        count = prod(sizes)
        if tensor.numel() != count:
            raise RuntimeError(SIZES.format("x".join(map(str, sizes)), count, "x".join(map(str, tensor.size())), tensor.numel()))
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.contiguous().view(ctx.input_size), None
