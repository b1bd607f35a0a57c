"""Running sums, products and extremes, differences and integrals along a dimension: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dims import distinct_dims, require, wrap_dim
from gradrepl.engine.layout import tidied
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.comparison import logical_xor
from gradrepl.engine.ops.joining import cat
from gradrepl.engine.ops.pointwise import div_scalar, in_place, mul_scalar, refuse_kinds
from gradrepl.engine.ops.reductions import accumulated
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.returns import RETURN_TYPES
from gradrepl.engine.tensor import Tensor, tensor_of

CUMMAX, CUMMIN = RETURN_TYPES["cummax"], RETURN_TYPES["cummin"]


def running(ufunc, array, dim, dtype):
    dim = wrap_dim(dim, array.ndim)
    array, target = accumulated(array, dtype)
    wide = array.astype(np.float64) if array.dtype == np.float32 else array
    return (ufunc.accumulate(wide, dim) if array.ndim else array).astype(target)


@op("CumsumBackward0", self="cumsum_backward(grad, dim)")
@tidied
def cumsum_dim(self, dim, dtype=None):
    return running(np.add, self, dim, dtype)


@op("CumprodBackward0", self="cumprod_backward(grad, self, dim, result)")
@tidied
def cumprod_dim(self, dim, dtype=None):
    return running(np.multiply, self, dim, dtype)


def cumsum(self, dim, *, dtype=None):
    return cumsum_dim(self, dim, dtype)


def cumprod(self, dim, *, dtype=None):
    return cumprod_dim(self, dim, dtype)


def cumsum_(self, dim, *, dtype=None):
    return in_place(cumsum_dim)(self, dim, dtype or self.dtype)


def cumprod_(self, dim, *, dtype=None):
    return in_place(cumprod_dim)(self, dim, dtype or self.dtype)


def running_extreme(array, dim, ufunc, name):
    """The running extreme and where it was last reached; from the first NaN on it is NaN."""
    if array.dtype.kind == "c":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{SCALARS[array.dtype.name]}'")
    dim = wrap_dim(dim, array.ndim)
    if not array.ndim:
        return array.copy(), np.zeros((), np.int64)
    values = ufunc.accumulate(array, dim)
    shape = [1] * array.ndim
    shape[dim] = array.shape[dim]
    places = np.arange(array.shape[dim]).reshape(shape)
    reached = (array == values) | (np.isnan(array) if array.dtype.kind == "f" else False)
    return values, np.maximum.accumulate(np.where(reached, places, 0), dim)


RUNNING = dict(outputs="values, indices", differentiable="values", self="cummaxmin_backward(grad, self, indices, dim)")


@op("CummaxBackward0", **RUNNING)
@tidied
def cummax_dim(self, dim):
    return running_extreme(self, dim, np.maximum, "cummax")


@op("CumminBackward0", **RUNNING)
@tidied
def cummin_dim(self, dim):
    return running_extreme(self, dim, np.minimum, "cummin")


def cummax(self, dim):
    return CUMMAX(cummax_dim(self, dim))


def cummin(self, dim):
    return CUMMIN(cummin_dim(self, dim))


@op("LogcumsumexpBackward0", self="logcumsumexp_backward(grad, self, result, dim)")
@tidied
def logcumsumexp_dim(self, dim):
    dim = wrap_dim(dim, self.ndim)
    refuse_kinds(self, "logcumsumexp_out", "biu")
    if not self.ndim or not self.size:
        return self.copy()
    if self.dtype.kind != "c":
        return np.logaddexp.accumulate(self, dim)
    high = np.maximum.reduce(self.real, dim, keepdims=True)
    return np.log(np.add.accumulate(np.exp(self - high), dim)) + high


def logcumsumexp(self, dim):
    return logcumsumexp_dim(self, dim)


def diff(self, n=1, dim=-1, prepend=None, append=None):
    if not self.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return tensor_of(np.zeros_like(self.array)).copy_(self)
    parts = [x for x in (prepend, self, append) if x is not None]
    result = cat(parts, dim) if len(parts) > 1 else self
    length = result.array.shape[wrap_dim(dim, self.array.ndim)]
    for step in range(min(n, length)):
        size = length - step - 1
        upper, lower = result.narrow(dim, 1, size), result.narrow(dim, 0, size)
        result = logical_xor(upper, lower) if self.array.dtype.kind == "b" else upper - lower
    return result


def trapezoid(y, x=None, *, dx=1, dim=-1):
    return integral(y, x, dx, dim, whole=True)


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    return integral(y, x, dx, dim, whole=False)


def integral(y, x, dx, dim, whole):
    """Trapezoids over evenly spaced points, or over the points `x`."""
    if not y.array.ndim and x is None and not whole:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if not y.array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    length = y.array.shape[wrap_dim(dim, y.array.ndim)]
    if length == 0 and whole:
        shape = list(y.array.shape)
        del shape[dim]
        return y.new_zeros(shape)
    if x is None and whole:
        return mul_scalar(y.sum(dim) - mul_scalar(y.select(dim, 0) + y.select(dim, -1), 0.5), float(dx))
    together = part(y, dim, 0, -1) + part(y, dim, 1)
    if x is None:
        return mul_scalar(together, dx / 2.0).cumsum(dim)
    together = together * widths(y, x, dim)
    return div_scalar(together.sum(dim) if whole else together.cumsum(dim), 2.0)


def widths(y, x, dim):
    """The distances between points, with dimensions put behind so that they broadcast along `dim`."""
    if x.array.ndim == 1:
        if x.array.shape[0] != y.array.shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        shape = [1] * y.array.ndim
        shape[dim] = x.array.shape[0]
        x = x.view(shape)
    elif x.array.ndim < y.array.ndim:
        x = x.view([1] * (y.array.ndim - x.array.ndim) + list(x.array.shape))
    length = x.array.shape[dim]
    return x.narrow(dim, 1, length - 1) - x.narrow(dim, 0, length - 1)


def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """Differences: central inside, one-sided of order `edge_order` at both ends."""
    ndim = input.array.ndim
    dims = list(range(ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if isinstance(spacing, tuple | list):
        steps = list(spacing)
    else:
        steps = [1 if spacing is None else spacing] * len(dims)
    check_spacing(len(steps), ndim, None if dim is None else len(dims))
    require(edge_order in (1, 2), "torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in distinct_dims(dims, ndim):
        require(input.array.shape[d] > edge_order, "torch.gradient expected each dimension size to be at least edge_order+1")
    make = uneven_gradient if any(isinstance(s, Tensor) for s in steps) else even_gradient
    return tuple(make(input, step, wrap_dim(d, ndim), edge_order) for step, d in zip(steps, dims))


def check_spacing(count, ndim, dims):
    """Whether there are as many steps as dims; `dims` is None where none were given."""
    if dims is None and count != ndim:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'self.dim() = {ndim}', since dim argument was not given, but got a list of length {count}"
        )
    if dims is not None and count != dims:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, but "
            f"got a spacing argument of length {count} and a dim argument of length {dims}."
        )


def part(tensor, dim, start, end=None):
    return NAMES["slice_dim"](tensor, dim, start, end)


def even_gradient(input, step, dim, edge_order):
    cut = lambda start, end=None: part(input, dim, start, end)
    if edge_order == 1:
        first, last = cut(1, 2) - cut(0, 1), cut(-1) - cut(-2, -1)
    else:
        first = mul_scalar(cut(0, 1), -1.5) + mul_scalar(cut(1, 2), 2) - mul_scalar(cut(2, 3), 0.5)
        last = mul_scalar(cut(-3, -2), 0.5) - mul_scalar(cut(-2, -1), 2) + mul_scalar(cut(-1), 1.5)
    inside = div_scalar(div_scalar(cut(2) - cut(0, -2), step), 2)
    return cat([div_scalar(first, step), inside, div_scalar(last, step)], dim)


def uneven_gradient(input, points, dim, edge_order):
    """Weights from the distances h to the neighbours, exact for parabolas."""
    cut = lambda start, end=None: part(input, dim, start, end)
    shape = [1] * input.array.ndim
    shape[dim] = -1
    steps = tensor_of(np.diff(points.array).reshape(shape).astype(input.array.dtype, copy=False))
    left, right = part(steps, dim, 0, -1), part(steps, dim, 1)
    down, middle, up = -right / (left * (left + right)), (right - left) / (left * right), left / (right * (left + right))
    center = down * cut(0, -2) + middle * cut(1, -1) + up * cut(2)
    if edge_order == 1:
        first, last = (cut(1, 2) - cut(0, 1)) / part(steps, dim, 0, 1), (cut(-1) - cut(-2, -1)) / part(steps, dim, -1)
    else:
        h, k = part(steps, dim, 0, 1), part(steps, dim, 1, 2)
        first = -(2 * h + k) / (h * (h + k)) * cut(0, 1) + (h + k) / (h * k) * cut(1, 2) - h / (k * (h + k)) * cut(2, 3)
        h, k = part(steps, dim, -2, -1), part(steps, dim, -1)
        last = k / (h * (h + k)) * cut(-3, -2) - (h + k) / (h * k) * cut(-2, -1) + (2 * k + h) / (k * (h + k)) * cut(-1)
    return cat([first, center, last], dim)


publish(
    globals(),
    both="cumsum cumprod cummax cummin logcumsumexp diff",
    functions="trapezoid trapz:trapezoid cumulative_trapezoid gradient",
    methods="cumsum_ cumprod_",
)
