"""torch.nn.modules.conv: convolutions and their transposes in one, two and three dimensions."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.nn.functional as F
import gradrepl.torch.nn.init as init
from gradrepl import torch
from gradrepl.torch.nn._windows import tuple_of
from gradrepl.torch.nn.modules.lazy import LazyModuleMixin
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.nn.parameter import Parameter, UninitializedParameter, is_lazy

PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}
PADDING_STRINGS = {"same", "valid"}


def check_channels(in_channels, out_channels, kernel_size, groups):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if any(k <= 0 for k in kernel_size if isinstance(k, int)):
        raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")


def check_padding(padding, padding_mode, stride):
    if isinstance(padding, str):
        if padding not in PADDING_STRINGS:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {PADDING_STRINGS}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'")


class _ConvNd(Module):
    """What all convolutions share: `dims` spatial dimensions."""

    __constants__ = "stride padding dilation groups padding_mode output_padding in_channels out_channels kernel_size".split()
    dims, transposed = 0, False

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
        output_padding=0,
    ):
        super().__init__()
        kernel_size, stride, dilation = (tuple_of(x, self.dims) for x in (kernel_size, stride, dilation))
        check_channels(in_channels, out_channels, kernel_size, groups)
        check_padding(padding, padding_mode, stride)
        self.in_channels, self.out_channels, self.kernel_size, self.stride = in_channels, out_channels, kernel_size, stride
        self.padding = padding if isinstance(padding, str) else tuple_of(padding, self.dims)
        self.dilation, self.transposed = dilation, self.transposed
        self.output_padding, self.groups, self.padding_mode = tuple_of(output_padding, self.dims), groups, padding_mode
        self._reversed_padding_repeated_twice = self.borders()
        self.weight = Parameter(torch.empty(self.weight_shape(), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def weight_shape(self):
        pair = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        return (pair[0], pair[1] // self.groups, *self.kernel_size)

    def borders(self):
        """The padding as F.pad takes it: the last dimension first, both sides."""
        if not isinstance(self.padding, str):
            return tuple(width for width in reversed(self.padding) for _ in range(2))
        total = [d * (k - 1) if self.padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size)]
        return [side for width in reversed(total) for side in (width // 2, width - width // 2)]

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        for name, usual in (("padding", (0,)), ("dilation", (1,)), ("output_padding", (0,))):
            if getattr(self, name) != usual * self.dims:
                parts.append(f"{name}={getattr(self, name)}")
        parts += [f"groups={self.groups}"] * (self.groups != 1) + ["bias=False"] * (self.bias is None)
        return ", ".join(parts + [f"padding_mode={self.padding_mode}"] * (self.padding_mode != "zeros"))

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def _conv_forward(self, input, weight, bias):
        convolve = CONVOLVE[self.dims]
        if self.padding_mode == "zeros":
            return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return convolve(padded, weight, bias, self.stride, (0,) * self.dims, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


CONVOLVE = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSE = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


class Conv1d(_ConvNd):
    dims = 1


class Conv2d(_ConvNd):
    """A convolution of images.

    >>> from gradrepl import torch
    >>> torch.nn.Conv2d(16, 33, 3, stride=2)(torch.zeros(20, 16, 50, 100)).shape
    torch.Size([20, 33, 24, 49])
    """

    dims = 2


class Conv3d(_ConvNd):
    dims = 3


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution with respect to its input, as a layer."""

    transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        sizes = in_channels, out_channels, kernel_size, stride, padding, dilation
        super().__init__(*sizes, groups, bias, padding_mode, device, dtype, output_padding)

    def _output_padding(self, input, output_size):
        """The padding that gives the requested size; the sizes that one stride can give are told where it cannot."""
        if output_size is None:
            return self.output_padding
        output_size, lead = list(output_size), input.dim() - self.dims
        if len(output_size) == self.dims + lead:
            output_size = output_size[lead:]
        if len(output_size) != self.dims:
            raise ValueError(
                f"ConvTranspose{self.dims}D: for {input.dim()}D input, output_size must "
                f"have {self.dims} or {lead + self.dims} elements (got {len(output_size)})"
            )
        along = zip(input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size)
        smallest = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in along]
        largest = [low + s - 1 for low, s in zip(smallest, self.stride)]
        if not all(low <= size <= high for low, size, high in zip(smallest, output_size, largest)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {input.size()[2:]})"
            )
        return [size - low for size, low in zip(output_size, smallest)]

    def forward(self, input, output_size=None):
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for ConvTranspose{self.dims}d")
        output_padding = self._output_padding(input, output_size)
        options = self.stride, self.padding, output_padding, self.groups, self.dilation
        return TRANSPOSE[self.dims](input, self.weight, self.bias, *options)


class ConvTranspose1d(_ConvTransposeNd):
    dims = 1


class ConvTranspose2d(_ConvTransposeNd):
    dims = 2


class ConvTranspose3d(_ConvTransposeNd):
    dims = 3


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution that learns its in_channels from its first input."""

    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        """The options are those of the eager class, without in_channels."""
        bias = kwargs.pop("bias", True) if len(args) < 6 else args[5]
        args = (*args[:5], False, *args[6:]) if len(args) > 5 else args
        kwargs.update(bias=False) if len(args) <= 5 else None
        super().__init__(0, 0, kernel_size, *args, **kwargs)
        like = dict(device=kwargs.get("device"), dtype=kwargs.get("dtype"))
        self.weight = UninitializedParameter(**like)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**like)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        self.weight.materialize(self.weight_shape())
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input):
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise RuntimeError(
                f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) "
                f"input to {self.__class__.__name__}, but got input of size: {input.shape}"
            )
        return input.shape[1] if input.dim() == self.dims + 2 else input.shape[0]


class LazyConv1d(_LazyConvXdMixin, Conv1d):
    cls_to_become = Conv1d


class LazyConv2d(_LazyConvXdMixin, Conv2d):
    cls_to_become = Conv2d


class LazyConv3d(_LazyConvXdMixin, Conv3d):
    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvXdMixin, ConvTranspose1d):
    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvXdMixin, ConvTranspose2d):
    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvXdMixin, ConvTranspose3d):
    cls_to_become = ConvTranspose3d
