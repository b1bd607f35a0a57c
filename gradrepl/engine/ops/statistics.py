"""Spread, order statistics and counts: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.advice import warn
from gradrepl.engine.declare import op
from gradrepl.engine.dims import as_dims, wrap_dim, wrap_dims
from gradrepl.engine.layout import tidied
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.comparison import masked_fill
from gradrepl.engine.ops.pointwise import UNGIVEN, mul_scalar, refuse_kinds
from gradrepl.engine.ops.scattering import gather
from gradrepl.engine.ops.shapes import broadcast_tensors
from gradrepl.engine.ops.unary import ceil, floor, positive, round
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.returns import RETURN_TYPES
from gradrepl.engine.tensor import Tensor, tensor_of

MEDIAN, NANMEDIAN, MODE = (RETURN_TYPES[name] for name in ("median", "nanmedian", "mode"))
FEW_ROWS = (
    "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations. (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/Correlation.cpp:129.)"
)
FEW = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by output "
    "numel). (Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/ReduceOps.cpp:1861.)"
)


def spread(array, dim, correction, keepdim, name):
    """(variance, mean), in double precision inside."""
    if array.dtype.kind not in "fc":
        raise RuntimeError(f"{'std and var' if '_' not in name else name} only support floating point and complex dtypes")
    axis = wrap_dims(dim, array.ndim)
    wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)
    count = array.size if axis is None else int(np.prod([array.shape[d] for d in axis], dtype=np.int64))
    freedom = count - (1 if correction is None else correction)
    if freedom <= 0:
        warn(FEW.format(name))
    mean = np.true_divide(np.add.reduce(wide, axis, keepdims=True), count)
    if count > 1:  # PyTorch's running mean is NaN once it has met an infinity
        mean = np.where(np.isinf(mean), np.nan, mean)
    error = wide - mean
    squares = np.add.reduce((error * np.conj(error)).real, axis, keepdims=keepdim)
    if not keepdim:
        mean = mean.reshape(squares.shape)
    return np.true_divide(squares, max(freedom, 0)), mean


def real_dtype(array):
    return array.real.dtype


@op("VarBackward0", self="var_backward(grad, self, dim, correction, keepdim)")
@tidied
def var_correction(self, dim=None, correction=None, keepdim=False):
    return spread(self, dim, correction, keepdim, "var")[0].astype(real_dtype(self))


@op("StdBackward0", self="std_backward(result, grad, self, dim, correction, keepdim)")
@tidied
def std_correction(self, dim=None, correction=None, keepdim=False):
    return np.sqrt(spread(self, dim, correction, keepdim, "std")[0]).astype(real_dtype(self))


@op("VarMeanBackward0", outputs="result0, result1", self="var_mean_backward(grads, self, dim, correction, keepdim)")
@tidied
def var_mean_correction(self, dim=None, correction=None, keepdim=False):
    variance, mean = spread(self, dim, correction, keepdim, "var_mean")
    return variance.astype(real_dtype(self)), np.asarray(mean).astype(self.dtype)


@op("StdMeanBackward0", outputs="result0, result1", self="std_mean_backward(grads, self, result0, dim, correction, keepdim)")
@tidied
def std_mean_correction(self, dim=None, correction=None, keepdim=False):
    variance, mean = spread(self, dim, correction, keepdim, "std_mean")
    return np.sqrt(variance).astype(real_dtype(self)), np.asarray(mean).astype(self.dtype)


def corrected(name, run):
    """The overloads: `unbiased` alone, `dim` with `unbiased`, or `correction`."""

    def function(self, dim=None, unbiased=UNGIVEN, keepdim=False, *, correction=UNGIVEN):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is UNGIVEN:
            plain = dim is None and unbiased is UNGIVEN
            correction = None if plain else 1 if unbiased is UNGIVEN else int(unbiased)
        return run(self, as_dims(dim), correction, keepdim)

    function.__name__ = function.__qualname__ = name
    return function


var, std = corrected("var", var_correction), corrected("std", std_correction)
var_mean, std_mean = corrected("var_mean", var_mean_correction), corrected("std_mean", std_mean_correction)

SELECTION = dict(
    outputs="values, indices",
    differentiable="values",
    self="value_selecting_reduction_backward(grad, dim, indices, self.sym_sizes(), keepdim)",
)


def selected(array, dim, keepdim, choose):
    """Values and places that `choose(array, order)` picks along a dimension; `order` sorts it, the NaNs last."""
    dim = wrap_dim(dim, array.ndim)
    if not array.ndim:
        return array.copy(), np.zeros((), np.int64)
    indices = choose(array, np.argsort(array, dim, kind="stable"), dim)
    values = np.take_along_axis(array, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def middle(array, order, dim):
    """The lower median, or the first NaN."""
    chosen = np.take(order, [(array.shape[dim] - 1) // 2], dim)
    if array.dtype.kind != "f":
        return chosen
    missing = np.isnan(array)
    return np.where(missing.any(dim, keepdims=True), np.argmax(missing, dim, keepdims=True), chosen)


def middle_known(array, order, dim):
    """The lower median of what is not NaN."""
    known = np.sum(~np.isnan(array), dim, keepdims=True) if array.dtype.kind == "f" else array.shape[dim]
    return np.take_along_axis(order, np.maximum((known - 1) // 2, 0) + np.zeros_like(np.take(order, [0], dim)), dim)


def check_median(array, dim, name):
    refuse_kinds(array, "median_out", "bc", "")
    if array.ndim and not array.shape[wrap_dim(dim, array.ndim)]:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


@op("MedianBackward1", **SELECTION)
def median_dim(self, dim, keepdim=False):
    check_median(self, dim, "median")
    return selected(self, dim, keepdim, middle)


@op("NanmedianBackward1", **SELECTION)
def nanmedian_dim(self, dim, keepdim=False):
    check_median(self, dim, "median")
    return selected(self, dim, keepdim, middle_known)


def of_everything(array, choose):
    refuse_kinds(array, "median", "bc")
    if not array.size:
        return np.full((), np.nan, array.dtype) if array.dtype.kind == "f" else np.full((), np.iinfo(array.dtype).min, array.dtype)
    return selected(array.reshape(-1), 0, False, choose)[0]


@op("MedianBackward0", self="evenly_distribute_backward(grad, self, result)")
def median_all(self):
    return of_everything(self, middle)


@op("NanmedianBackward0", self="evenly_distribute_backward(grad, self, result)")
def nanmedian_all(self):
    return of_everything(self, middle_known)


def median(self, dim=UNGIVEN, keepdim=False):
    return median_all(self) if dim is UNGIVEN else MEDIAN(median_dim(self, dim, keepdim))


def nanmedian(self, dim=UNGIVEN, keepdim=False):
    return nanmedian_all(self) if dim is UNGIVEN else NANMEDIAN(nanmedian_dim(self, dim, keepdim))


@op("ModeBackward0", **SELECTION)
def mode_dim(self, dim=-1, keepdim=False):
    refuse_kinds(self, "mode")
    if self.ndim and not self.shape[wrap_dim(dim, self.ndim)]:
        raise IndexError(f"mode(): Expected reduction dim {wrap_dim(dim, self.ndim)} to have non-zero size.")
    return selected(self, dim, keepdim, most_frequent)


def most_frequent(array, order, dim):
    """The last place of the smallest of the most frequent values."""
    if not array.size:
        return np.take(order, [0], dim)
    return np.apply_along_axis(frequent, dim, array)


def frequent(line):
    values, counts = np.unique(line, return_counts=True)
    return np.flatnonzero(line == values[np.argmax(counts)])[-1:] if len(values) else np.zeros(1, np.int64)


def mode(self, dim=-1, keepdim=False):
    return MODE(mode_dim(self, dim, keepdim))


def quantile(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    return quantiles(self, q, dim, keepdim, interpolation, "quantile")


def nanquantile(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    return quantiles(self, q, dim, keepdim, interpolation, "nanquantile")


def checked_probabilities(self, q, interpolation, name):
    if self.array.dtype.name not in ("float32", "float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
        return tensor_of(np.asarray(q, self.array.dtype))
    if q.array.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if q.array.dtype != self.array.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if not ((q.array >= 0) & (q.array <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    return q


def quantiles(self, q, dim, keepdim, interpolation, name):
    """Sort the dimension to the back, look up the neighbours of each rank, and interpolate."""
    q = checked_probabilities(self, q, interpolation, name)
    if not self.array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    ndim = self.array.ndim
    wrapped = wrap_dim(0 if dim is None else dim, ndim)
    kept = ([1] * ndim if keepdim else []) if dim is None else list(self.array.shape)
    if dim is not None and ndim:
        kept[wrapped : wrapped + 1] = [1] if keepdim else []
    line = self.flatten() if dim is None else self
    if dim is not None and wrapped != ndim - 1:
        line = self.unsqueeze(-1).transpose(wrapped, -1)
    ordered = line.sort()[0]
    ordered = ordered.view((*kept, ordered.array.shape[-1] if ordered.array.ndim else 1))
    values = neighbours(ordered, q, interpolation, name == "nanquantile")
    return (values.unsqueeze_(0).transpose_(0, -1) if q.array.ndim else values).squeeze_(-1)


ROUNDINGS = dict(lower=floor, higher=ceil, nearest=round)


def neighbours(ordered, q, interpolation, skip_missing):
    """The values at the ranks q (n - 1) of sorted lines, between two if the rank is no whole number."""
    last = ordered.array.shape[-1] - 1
    missing = np.isnan(ordered.array)
    if skip_missing:
        known = tensor_of((~missing).sum(-1, keepdims=True) - 1)
        ranks = q * known
        ranks = masked_fill(ranks, ranks < 0, 0)
    else:
        ranks, unknown = broadcast_tensors(mul_scalar(q, last), tensor_of(missing.any(-1, keepdims=True)))
        ranks = masked_fill(ranks, unknown, last)
    ranks = ROUNDINGS.get(interpolation, positive)(ranks)
    below = tensor_of(ranks.array.astype(np.int64))
    values = gather(ordered, -1, below)
    if interpolation not in ("linear", "midpoint"):
        return values
    weights = tensor_of(np.full_like(ranks.array, 0.5)) if interpolation == "midpoint" else ranks - below
    return values.lerp_(gather(ordered, -1, tensor_of(np.ceil(ranks.array).astype(np.int64))), weights)


def cov(self, *, correction=1, fweights=None, aweights=None):
    if self.array.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {self.array.ndim} dimensions")
    rows = self.view((1, -1)) if self.array.ndim < 2 else self
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    total = tensor_of(np.asarray(rows.array.shape[1])) if weights is None else weights.sum()
    average = (rows if weights is None else rows * weights).sum(1) / total
    freedom = total - correction
    if aweights is not None and correction:
        freedom = total - correction * (weights * aweights).sum() / total
    if freedom.array <= 0:
        warn(FEW_ROWS)
        freedom = tensor_of(np.zeros_like(freedom.array))
    rows = rows - average.unsqueeze(1)
    return (rows.mm((rows if weights is None else rows * weights).t().conj()) / freedom).squeeze()


def corrcoef(self):
    if self.array.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {self.array.ndim} dimensions")
    covariance = cov(self)
    if not covariance.array.ndim:
        return covariance / covariance
    spreads = covariance.diagonal()
    spreads = (spreads.real if spreads.array.dtype.kind == "c" else spreads).sqrt()
    result = covariance / spreads.view((-1, 1)) / spreads.view((1, -1))
    if result.array.dtype.kind == "c":
        return NAMES["complex"](result.real.clip(-1, 1), result.imag.clip(-1, 1))
    return result.clip(-1, 1)


def bincount(input, weights=None, minlength=0):
    array = input.array
    if array.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{SCALARS[array.dtype.name]}'")
    if array.ndim != 1 or (array.size and array.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is None:
        return tensor_of(np.bincount(array, minlength=minlength))
    if weights.array.shape != array.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    kind = weights.array.dtype if weights.array.dtype == np.float32 else np.dtype(np.float64)
    result = tensor_of(np.bincount(array, weights.array, minlength).astype(kind))
    return without_derivative("bincount", result, weights)


publish(
    globals(),
    both="var std median nanmedian mode quantile nanquantile cov corrcoef bincount",
    functions="var_mean std_mean",
)
