"""torch.nn.modules.pooling: maxima and means of windows."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.nn.functional as F
from gradrepl.torch.nn.modules.conv import tuple_of
from gradrepl.torch.nn.modules.module import Module


def listed(module, *names):
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)


class _MaxPoolNd(Module):
    """The largest of each window."""

    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        options = dict(ceil_mode=self.ceil_mode, return_indices=self.return_indices)
        return self.pool(input, self.kernel_size, self.stride, self.padding, self.dilation, **options)

    def extra_repr(self):
        return listed(self, "kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPoolNd):
    pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    pool = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    """Maxima put back to their places, zeros elsewhere."""

    dims = 1

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = tuple_of(kernel_size, self.dims)
        self.stride = tuple_of(stride if stride is not None else kernel_size, self.dims)
        self.padding = tuple_of(padding, self.dims)

    def forward(self, input, indices, output_size=None):
        return self.unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return listed(self, "kernel_size", "stride", "padding")


class MaxUnpool1d(_MaxUnpoolNd):
    dims, unpool = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    dims, unpool = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    dims, unpool = 3, staticmethod(F.max_unpool3d)


class _AvgPoolNd(Module):
    """The mean of each window."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        options = self.ceil_mode, self.count_include_pad, self.divisor_override
        return self.pool(input, self.kernel_size, self.stride, self.padding, *options)

    def extra_repr(self):
        return listed(self, "kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__(*(tuple_of(x, 1) for x in (kernel_size, kernel_size if stride is None else stride, padding)), ceil_mode)
        self.count_include_pad = count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    __constants__ = [*_AvgPoolNd.__constants__, "divisor_override"]
    pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolNd):
    __constants__ = [*_AvgPoolNd.__constants__, "divisor_override"]
    pool = staticmethod(F.avg_pool3d)


class FractionalMaxPool2d(Module):
    """Maxima of windows whose places are drawn at random."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    dims, pool = 2, staticmethod(F.fractional_max_pool2d)

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self.kernel_size, self.return_indices = tuple_of(kernel_size, self.dims), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = output_size if output_size is None else tuple_of(output_size, self.dims)
        self.output_ratio = output_ratio if output_ratio is None else tuple_of(output_ratio, self.dims)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        sizes = self.kernel_size, self.output_size, self.output_ratio
        return self.pool(input, *sizes, self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool3d(FractionalMaxPool2d):
    dims, pool = 3, staticmethod(F.fractional_max_pool3d)


class _LPPoolNd(Module):
    """The p-norm of each window."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return self.pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return listed(self, *self.__constants__)


class LPPool1d(_LPPoolNd):
    pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    pool = staticmethod(F.lp_pool3d)


class _AdaptiveMaxPoolNd(Module):
    """Maxima of as many windows as the output has places."""

    __constants__ = ["output_size", "return_indices"]

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input):
        return self.pool(input, self.output_size, self.return_indices)

    def extra_repr(self):
        return listed(self, "output_size")


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    pool = staticmethod(F.adaptive_max_pool3d)


class _AdaptiveAvgPoolNd(Module):
    """Means of as many windows as the output has places."""

    __constants__ = ["output_size"]

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return self.pool(input, self.output_size)

    def extra_repr(self):
        return listed(self, "output_size")


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    pool = staticmethod(F.adaptive_avg_pool3d)
