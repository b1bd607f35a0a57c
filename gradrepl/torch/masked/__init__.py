"""torch.masked: reductions and normalisations of the elements that a mask keeps. What it hides is replaced by what changes nothing."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch

__all__ = """amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize prod softmax softmin std sum
    var""".split()
SMALL_INTEGERS = {torch.uint8, torch.bool, torch.int8, torch.int16, torch.int32}


def lowest(input):
    return -torch.inf if input.is_floating_point() or input.is_complex() else torch.iinfo(input.dtype).min


def highest(input):
    return torch.inf if input.is_floating_point() else torch.iinfo(input.dtype).max


def input_mask(input, mask):
    """The mask in the shape of the input, as booleans."""
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    mask = torch.broadcast_to(mask.clone(), input.shape) if mask.shape != input.shape else mask
    return mask if mask.dtype is torch.bool else mask.to(dtype=torch.bool)


def hidden(input, mask, fill):
    """The input with `fill` where the mask hides it."""
    if mask is None:
        return input
    return torch.where(input_mask(input, mask), input, torch.tensor(fill, dtype=input.dtype))


def dims_of(dim, ndim):
    """Dimensions in order, counted from the front; none means all of them."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    dims, ndim = [], max(ndim, 1)
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if d in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -ndim <= d < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
        dims.append(d % ndim)
    return tuple(sorted(dims))


def widened(input, dtype):
    """The dtype of a sum or product: small integers are added up as int64."""
    return dtype or (torch.int64 if input.dtype in SMALL_INTEGERS else input.dtype)


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.sum(hidden(input, mask, 0), dims_of(dim, input.ndim), bool(keepdim), dtype=widened(input, dtype))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    result = hidden(input, mask, 1).to(dtype=widened(input, dtype))
    for d in reversed(dims_of(dim, input.ndim)):
        result = result.prod(dim=d, keepdim=bool(keepdim))
    return result


def cumsum(input, dim, *, dtype=None, mask=None):
    dtype = dtype or input.dtype
    return torch.cumsum(hidden(input, mask, 0), dims_of(dim, input.ndim)[0], dtype=dtype).to(dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    dtype = dtype or input.dtype
    return torch.cumprod(hidden(input, mask, 1), dims_of(dim, input.ndim)[0], dtype=dtype).to(dtype=dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    result = torch.amax(hidden(input, mask, lowest(input)), dims_of(dim, input.ndim), bool(keepdim))
    return result.to(dtype=dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    result = torch.amin(hidden(input, mask, highest(input)), dims_of(dim, input.ndim), bool(keepdim))
    return result.to(dtype=dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.argmax(hidden(input, mask, lowest(input)), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.argmin(hidden(input, mask, highest(input)), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def counted(input, dim, keepdim, mask):
    """How many elements each result stands for."""
    if mask is None:
        return sum(torch.ones(input.shape, dtype=torch.int64), dim, keepdim=keepdim)
    return mask.sum(dim=dim, keepdim=bool(keepdim))


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    source, dtype = "Optional" if dtype else "Input", dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. Got: {dtype}"
        )
    mask = None if mask is None else input_mask(input, mask)
    count = counted(input, dim, keepdim, mask)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / count


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    dtype, is_float = dtype or input.dtype, input.is_floating_point()
    input = input if is_float else input.to(dtype=torch.float)
    result = torch.nanmedian(hidden(input, mask, torch.nan), dims_of(dim, input.ndim)[0], keepdim).values
    if is_float:
        return result
    if torch.isnan(result).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return result.to(dtype=dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    result = torch.logsumexp(hidden(input, mask, lowest(input)), dims_of(dim, input.ndim), keepdim=keepdim)
    return result.to(dtype=dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    result = torch.logaddexp(hidden(input, input_mask, lowest(input)), hidden(other, other_mask, lowest(other)))
    return result.to(dtype=dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    shown = hidden(input, mask, torch.inf if ord == -torch.inf else 0)
    return torch.linalg.vector_norm(shown, ord, dims_of(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return spread(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return torch.sqrt(spread(input, dim, unbiased, correction, keepdim, dtype, mask))


def spread(input, dim, unbiased, correction, keepdim, dtype, mask):
    """The variance of what is kept; a count that the correction makes negative counts as zero."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    correction = float(correction if correction is not None else unbiased is not False)
    dtype = dtype or (input.dtype if input.is_floating_point() or input.is_complex() else torch.float32)
    mask = None if mask is None else input_mask(input, mask)
    count = counted(input, dim, True, mask)
    average = torch.divide(sum(input, dim, keepdim=True, dtype=dtype, mask=mask), count)
    error = torch.subtract(input, average)
    total = sum(error * error.conj(), dim, keepdim=keepdim, dtype=dtype, mask=mask)
    count = count if keepdim else count.reshape(total.shape)
    if correction != 0:
        count = torch.subtract(count.to(torch.finfo(dtype).dtype if dtype.is_complex else dtype), correction)
        count = torch.maximum(count, count.new_zeros([]))
    return torch.divide(total, count).to(dtype=dtype)


def softmax(input, dim, *, dtype=None, mask=None):
    return normalised(torch.nn.functional.softmax, input, lowest(input), dim, dtype, mask)


def log_softmax(input, dim, *, dtype=None, mask=None):
    return normalised(torch.nn.functional.log_softmax, input, lowest(input), dim, dtype, mask)


def softmin(input, dim, *, dtype=None, mask=None):
    return normalised(torch.nn.functional.softmin, input, highest(input), dim, dtype, mask)


def normalised(function, input, fill, dim, dtype, mask):
    return function(hidden(input, mask, fill), dims_of(dim, input.ndim)[0], dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    shown = hidden(input, mask, 0)
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return torch.divide(shown, torch.maximum(size, size.new_full([], eps)))
