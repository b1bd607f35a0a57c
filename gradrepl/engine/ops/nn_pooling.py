"""Pooling: a window slides by being taken apart, one strided slice of the input for each place of the kernel."""

import math

import numpy as np

from gradrepl.engine.declare import Array, op
from gradrepl.engine.ops.pointwise import refuse_kinds
from gradrepl.engine.public import publish

# ---- NumPy: x is (N, C, *sizes)


def pooled(n, kernel, padding, stride, dilation, ceil_mode):
    """How many windows fit along one dimension; in ceil mode one more may hang over the end, if it starts inside."""
    count = (n + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= n + padding else count


def framed(x, counts, kernel, padding, stride, dilation, value):
    """`x` with a border, wide enough for every window."""
    reach = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(counts, stride, dilation, kernel)]
    sizes = x.shape[2:]
    whole = tuple(max(r, n + p) for r, n, p in zip(reach, sizes, padding))
    if whole == sizes:
        return x
    out = np.full(x.shape[:2] + whole, value, x.dtype)
    out[(..., *(slice(p, p + n) for p, n in zip(padding, sizes)))] = x
    return out


def slices(kernel, counts, stride, dilation):
    """For every place of the kernel what all windows have there."""
    for at in np.ndindex(*kernel):
        yield at, (..., *(slice(a * d, a * d + s * (n - 1) + 1, s) for a, d, s, n in zip(at, dilation, stride, counts)))


def with_batch(function):
    """A kernel for (N, C, *sizes), also for (C, *sizes); `dims` is the number of sizes."""

    def run(dims, x, *options):
        if x.ndim == dims + 2:
            return function(x, *options)
        results = function(x[None], *options)
        return tuple(r[0] for r in results) if isinstance(results, tuple) else results[0]

    return run


def plane_offsets(sizes, counts, padding, stride):
    """The flat place of each window's first element in its plane."""
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    corners = [(np.arange(n) * s - p) * step for n, s, p, step in zip(counts, stride, padding, steps)]
    return sum(corner.reshape(-1, *(1,) * (len(sizes) - 1 - i)) for i, corner in enumerate(corners)), steps


@with_batch
def max_windows(x, kernel, stride, padding, dilation, counts):
    """(maxima, their flat places in the plane); the first of equals, and NaN wins."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    whole = framed(x, counts, kernel, padding, stride, dilation, lowest)
    first, steps = plane_offsets(x.shape[2:], counts, padding, stride)
    offsets = [sum(a * d * step for a, d, step in zip(at, dilation, steps)) for at in np.ndindex(*kernel)]
    nan = x.dtype.kind == "f" and x.size and np.isnan(x.min())
    which = np.zeros(x.shape[:2] + tuple(counts), np.uint8 if len(offsets) < 256 else np.int32)
    best = None
    for number, (_, places) in enumerate(slices(kernel, counts, stride, dilation)):
        here = whole[places]
        if best is None:
            best = here.copy()
            continue
        better = here > best
        if nan:
            better |= np.isnan(here)
        np.maximum(best, here, out=best)
        np.copyto(which, number, where=better, casting="unsafe")
    chosen = np.take(np.array(offsets), which) + first
    return best, np.clip(chosen, 0, math.prod(x.shape[2:]) - 1) if any(padding) else chosen  # a border of -inf under -inf only


def scattered(grad, indices, sizes, dims, apart):
    """The gradients at the flat places they came from, in planes of zeros. `apart`: no two windows share an element."""
    planes, plane = math.prod(sizes[:-dims]), math.prod(sizes[-dims:])
    flat = indices.reshape(planes, -1) + np.arange(planes)[:, None] * plane
    if apart:
        out = np.zeros(planes * plane, grad.dtype)
        out[flat.ravel()] = grad.ravel()
    else:
        out = np.bincount(flat.ravel(), grad.ravel(), planes * plane).astype(grad.dtype)
    return out.reshape(sizes)


def window_counts(sizes, counts, kernel, stride, padding, count_include_pad, divisor_override):
    """What the sum of each window is divided by."""
    if divisor_override is not None:
        return divisor_override
    spans = []
    for n, count, k, s, p in zip(sizes, counts, kernel, stride, padding):
        start = np.arange(count) * s - p
        end = np.minimum(start + k, n + p)
        spans.append(end - start if count_include_pad else np.minimum(end, n) - np.maximum(start, 0))
    total = spans[0]
    for span in spans[1:]:
        total = total[..., None] * span
    return total


@with_batch
def mean_windows(x, kernel, stride, padding, counts, divisor):
    whole, total = framed(x, counts, kernel, padding, stride, (1,) * len(kernel), 0), None
    for _, places in slices(kernel, counts, stride, (1,) * len(kernel)):
        total = whole[places].copy() if total is None else np.add(total, whole[places], out=total)
    return np.divide(total, divisor).astype(x.dtype) if x.dtype.kind == "f" else np.trunc(total / divisor).astype(x.dtype)


@with_batch
def mean_windows_back(grad, sizes, kernel, stride, padding, divisor):
    counts = grad.shape[2:]
    share = np.divide(grad, divisor).astype(grad.dtype)
    whole = tuple(max((n - 1) * s + k, size + p) for n, s, k, size, p in zip(counts, stride, kernel, sizes, padding))
    out = np.zeros(grad.shape[:2] + whole, grad.dtype)
    for _, places in slices(kernel, counts, stride, (1,) * len(kernel)):
        out[places] += share
    return np.ascontiguousarray(out[(..., *(slice(p, p + n) for p, n in zip(padding, sizes)))])


def bins(size, count):
    """Where the adaptive windows of one dimension start and end."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def adaptive_windows(sizes, counts):
    """(place in the output, slices of the input) of every adaptive window."""
    along = [bins(n, count) for n, count in zip(sizes, counts)]
    for at in np.ndindex(*counts):
        yield (..., *at), (..., *(slice(*edges[i]) for edges, i in zip(along, at)))


def adaptive_means(x, counts):
    dims = len(counts)
    out = np.empty(x.shape[:-dims] + tuple(counts), x.dtype)
    for place, window in adaptive_windows(x.shape[-dims:], counts):
        out[place] = x[window].mean(tuple(range(-dims, 0)))
    return out


def adaptive_maxima(x, counts):
    dims = len(counts)
    values = np.empty(x.shape[:-dims] + tuple(counts), x.dtype)
    indices, plane = np.empty(values.shape, np.int64), np.arange(math.prod(x.shape[-dims:])).reshape(x.shape[-dims:])
    for place, window in adaptive_windows(x.shape[-dims:], counts):
        lines = x[window].reshape(*x.shape[:-dims], -1)
        chosen = lines.argmax(-1)
        values[place] = np.take_along_axis(lines, chosen[..., None], -1)[..., 0]
        indices[place] = plane[window[1:]].ravel()[chosen]
    return values, indices


# ---- ops, for two and three dimensions alike


def named(function, name):
    function.__name__ = function.__qualname__ = name
    return function


def declare(dims):
    """The pooling ops of `dims` dimensions by name."""
    made = {}

    def declared(node, forward, name, **declaration):
        made[name] = op(node, **declaration)(named(forward, name))

    for declare_kind in (declare_max, declare_mean, declare_adaptive_mean, declare_adaptive_max, declare_unpool, declare_fractional):
        declare_kind(dims, f"{dims}d", declared)
    return made


def declare_max(dims, d, declared):
    """The largest of each window, and where it stands."""
    options = "kernel_size, stride, padding, dilation, ceil_mode"

    def max_pool(self, kernel_size, stride, padding, dilation, ceil_mode):
        refuse_kinds(self, f"max_pool{d}", "bc", "")
        stride = stride or kernel_size
        along = zip(self.shape[-dims:], kernel_size, padding, stride, dilation)
        counts = tuple(pooled(*one, ceil_mode) for one in along)
        return max_windows(dims, self, kernel_size, stride, padding, dilation, counts)

    def max_pool_back(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices: Array):
        stride = stride or kernel_size
        apart = all(s >= k and w == 1 for s, k, w in zip(stride, kernel_size, dilation))
        return scattered(grad_output, indices, self.shape, dims, apart)

    declared(
        f"MaxPool{dims}DWithIndicesBackward0",
        max_pool,
        f"max_pool{d}_with_indices",
        outputs="result0, result1",
        differentiable="result0",
        self=f"max_pool{d}_with_indices_backward(grad, self, {options}, result1)",
    )
    twice = dict(grad_output=f"max_pool_double_backward(grad, indices, {dims})", self="zeros_like(self)")
    declared(f"MaxPool{dims}DWithIndicesBackwardBackward0", max_pool_back, f"max_pool{d}_with_indices_backward", **twice)


def declare_mean(dims, d, declared):
    """The mean of each window."""
    options = "kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override"

    def geometry(sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        counts = tuple(pooled(n, k, p, s, 1, ceil_mode) for n, k, p, s in zip(sizes, kernel_size, padding, stride))
        return counts, window_counts(sizes, counts, kernel_size, stride, padding, count_include_pad, divisor_override)

    def avg_pool(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        refuse_kinds(self, f"avg_pool{d}" + "_out_frame" * (dims == 3), "bc", "")
        stride = stride or kernel_size
        counts, divisor = geometry(self.shape[-dims:], kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return mean_windows(dims, self, kernel_size, stride, padding, counts, divisor)

    def avg_pool_back(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        sizes, stride = self.shape[-dims:], stride or kernel_size
        _, divisor = geometry(sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return mean_windows_back(dims, grad_output, sizes, kernel_size, stride, padding, divisor)

    declared(f"AvgPool{dims}DBackward0", avg_pool, f"avg_pool{d}", self=f"avg_pool{d}_backward(grad, self, {options})")
    twice = dict(grad_output=f"avg_pool{d}(grad, {options})", self="zeros_like(self)")
    declared(f"AvgPool{dims}DBackwardBackward0", avg_pool_back, f"avg_pool{d}_backward", **twice)


def declare_adaptive_mean(dims, d, declared):
    """The mean of as many windows as are asked for."""

    def adaptive_avg(self, output_size):
        refuse_kinds(self, f"adaptive_avg_pool{d}", "c", "")
        return adaptive_means(self, output_size)

    def adaptive_avg_back(grad_output, self):
        out = np.zeros(self.shape, grad_output.dtype)
        for place, window in adaptive_windows(self.shape[-dims:], grad_output.shape[-dims:]):
            part = out[window]
            part += (grad_output[place] / math.prod(part.shape[-dims:]))[(..., *(None,) * dims)]
        return out

    declared(f"AdaptiveAvgPool{dims}DBackward0", adaptive_avg, f"_adaptive_avg_pool{d}", self=f"_adaptive_avg_pool{d}_backward(grad, self)")
    again = f"_adaptive_avg_pool{d}(grad, grad_output.sym_sizes()[-{dims}:])"
    twice = dict(grad_output=again, self="zeros_like(self)")
    declared(f"AdaptiveAvgPool{dims}DBackwardBackward0", adaptive_avg_back, f"_adaptive_avg_pool{d}_backward", **twice)


def declare_adaptive_max(dims, d, declared):
    """The largest of each of as many windows as are asked for."""

    def adaptive_max(self, output_size):
        refuse_kinds(self, f"adaptive_max_pool{d}", "c", "")
        return adaptive_maxima(self, output_size)

    def adaptive_max_back(grad_output, self, indices: Array):
        return scattered(grad_output, indices, self.shape, dims, False)

    declared(
        f"AdaptiveMaxPool{dims}DBackward0",
        adaptive_max,
        f"adaptive_max_pool{d}",
        outputs="result0, result1",
        differentiable="result0",
        self=f"adaptive_max_pool{d}_backward(grad, self, result1)",
    )
    twice = dict(grad_output=f"max_pool_double_backward(grad, indices, {dims})", self="zeros_like(self)")
    declared(f"AdaptiveMaxPool{dims}DBackwardBackward0", adaptive_max_back, f"adaptive_max_pool{d}_backward", **twice)


def declare_unpool(dims, d, declared):
    """Each value back in the place it was taken from."""

    def max_unpool(self, indices: Array, output_size):
        sizes = self.shape[:-dims] + tuple(output_size)
        return scattered(self, indices, sizes, dims, True)

    declared(f"MaxUnpool{dims}DBackward0", max_unpool, f"max_unpool{d}", self=f"max_pool_double_backward(grad, indices, {dims})")


def declare_fractional(dims, d, declared):
    """The largest of each of windows that start at random."""

    def fractional(self, kernel_size, output_size, random_samples: Array):
        return fractional_maxima(dims, self, kernel_size, output_size, random_samples)

    def fractional_back(grad_output, self, kernel_size, output_size, indices: Array):
        return scattered(grad_output, indices, self.shape, dims, False)

    declared(
        f"FractionalMaxPool{dims}DBackward0",
        fractional,
        f"fractional_max_pool{d}",
        outputs="result0, result1",
        differentiable="result0",
        self=f"fractional_max_pool{d}_backward(grad, self, kernel_size, output_size, result1)",
    )
    twice = dict(grad_output=f"max_pool_double_backward(grad, indices, {dims})", self="zeros_like(self)")
    declared(f"FractionalMaxPool{dims}DBackwardBackward0", fractional_back, f"fractional_max_pool{d}_backward", **twice)


def intervals(sample, size, count, kernel):
    """Where the windows of one dimension start: steps of a fractional length from a random offset."""
    step = np.float32(size - kernel) / np.float32(count - 1) if count > 1 else np.float32(0)
    starts = [int((i + sample) * step) - int(sample * step) for i in range(count - 1)]
    return [*starts, size - kernel]


@with_batch
def fractional_maxima(x, kernel, counts, samples):
    values = np.empty(x.shape[:2] + tuple(counts), x.dtype)
    indices, plane = np.empty(values.shape, np.int64), np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:])
    order = range(len(counts)) if len(counts) == 3 else (1, 0)  # in two dimensions the first sample is the width's
    for n, c in np.ndindex(*x.shape[:2]):
        starts = [intervals(samples[n, c, o], x.shape[2 + i], counts[i], kernel[i]) for i, o in enumerate(order)]
        for at in np.ndindex(*counts):
            window = tuple(slice(s[i], s[i] + k) for s, i, k in zip(starts, at, kernel))
            chosen = x[n, c][window].argmax()
            values[(n, c, *at)], indices[(n, c, *at)] = x[n, c][window].ravel()[chosen], plane[window].ravel()[chosen]
    return values, indices


globals().update(declare(2) | declare(3))

# ---- what users call


def sizes_of(name, value, dims, what):
    """A number or a list as one number a dimension."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(values) not in (1, dims):
        raise RuntimeError(f"{name}: {what} must {'either be a single int, or a tuple of' if dims > 1 else 'be one int or'} {dims} ints")
    return values * dims if len(values) == 1 else values


def arguments(name, kernel_size, stride, padding, dilation, dims):
    kernel = sizes_of(name, kernel_size, dims, "kernel_size")
    steps = kernel if stride is None or isinstance(stride, (tuple, list)) and not stride else sizes_of(name, stride, dims, "stride")
    if 0 in steps:
        raise RuntimeError("stride should not be zero")
    return kernel, steps, sizes_of(name, padding, dims, "padding"), sizes_of(name, dilation, dims, "dilation")


def check_padding(kernel, padding, dilation):
    for k, p, d in zip(kernel, padding, dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}")


def check_output(input, kernel, stride, padding, dilation, ceil_mode):
    dims = len(kernel)
    sizes = input.shape[-dims:]
    counts = [pooled(n, k, p, s, d, ceil_mode) for n, k, p, s, d in zip(sizes, kernel, padding, stride, dilation)]
    if min(counts) < 1:
        planes, across = input.shape[-dims - 1], lambda values: "x".join(map(str, (planes, *values)))
        raise RuntimeError(f"Given input size: ({across(sizes)}). Calculated output size: ({across(counts)}). Output size is too small")


def max_pooler(dims):
    pool_name = f"max_pool{dims}d"
    pool = globals()[f"max_pool{dims}d_with_indices"]

    def max_pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        given = stride not in (None, (), [])  # PyTorch saves a stride as it was given
        kernel, stride, padding, dilation = arguments(pool_name, kernel_size, stride, padding, dilation, dims)
        if input.array.ndim not in (dims + 1, dims + 2) or 0 in input.shape[-dims - 1 :]:
            raise RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
        check_padding(kernel, padding, dilation)
        check_output(input, kernel, stride, padding, dilation, ceil_mode)
        return pool(input, kernel, stride if given else (), padding, dilation, ceil_mode)

    return named(max_pool, f"{pool_name}_and_indices")


def avg_pooler(dims):
    name = f"avg_pool{dims}d"
    pool = globals()[name]

    def avg_pool(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        given = stride not in (None, (), [])
        kernel, stride, padding, dilation = arguments(name, kernel_size, stride, padding, 1, dims)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        if input.array.ndim < dims + 1:
            low = -input.array.ndim
            raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {-low - 1}], but got {-dims - 1})")
        check_padding(kernel, padding, dilation)
        check_output(input, kernel, stride, padding, dilation, ceil_mode)
        return pool(input, kernel, stride if given else (), padding, ceil_mode, count_include_pad, divisor_override)

    return named(avg_pool, name)


max_pool2d_and_indices, max_pool3d_and_indices = max_pooler(2), max_pooler(3)
avg_pool2d_public, avg_pool3d_public = avg_pooler(2), avg_pooler(3)


def as_image(act, input):
    """Run a two-dimensional op on (…, L) as (…, 1, L)."""
    results = act(input.unsqueeze(-2))
    return tuple(r.squeeze(-2) for r in results) if isinstance(results, tuple) else results.squeeze(-2)


def one(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def max_pool1d_and_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    if input.array.ndim not in (2, 3):
        raise RuntimeError(
            f"max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(input.shape)}"
        )
    kernel, stride, padding, dilation = arguments("max_pool1d", kernel_size, stride, padding, dilation, 1)
    if not input.requires_grad:
        refuse_kinds(input.array, "max_pool1d_impl", "biuc", "")
    count = pooled(input.shape[-1], kernel[0], padding[0], stride[0], dilation[0], ceil_mode)
    if count < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    pair = lambda values, other: (other, values[0])
    options = pair(kernel, 1), pair(stride, 1), pair(padding, 0), pair(dilation, 1), ceil_mode
    return as_image(lambda x: max_pool2d_and_indices(x, *options), input)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    check_dims(input, 2, 3, "avg_pool1d")
    kernel, stride, padding, _ = arguments("avg_pool1d", kernel_size, stride, padding, 1, 1)
    options = (1, kernel[0]), (1, stride[0]), (0, padding[0]), ceil_mode, count_include_pad
    return as_image(lambda x: avg_pool2d_public(x, *options), input)


def check_dims(input, low, high, name):
    if not low <= input.array.ndim <= high:
        raise RuntimeError(
            f"Expected {low} to {high} dimensions, but got {input.array.ndim}-dimensional "
            f"tensor for argument #1 'self' (while checking arguments for {name})"
        )


def adaptive_avg(input, output_size, dims):
    name = f"adaptive_avg_pool{dims}d"
    output_size = (output_size,) * dims if isinstance(output_size, int) else tuple(output_size)
    if len(output_size) != dims:
        raise RuntimeError(f"{name}: output_size must be {dims}")
    if input.array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {list(input.shape)}")
    if all(n == 1 for n in output_size):
        return input.mean(tuple(range(-dims, 0)), True)
    check_sizes(input, dims, name)
    return globals()[f"_adaptive_avg_pool{dims}d"](input, output_size)


def adaptive_avg_pool1d(input, output_size):
    check_dims(input, 2, 3, "adaptive_avg_pool1d")
    return as_image(lambda x: adaptive_avg(x, (1, one(output_size)), 2), input)


def adaptive_max(input, output_size, dims):
    name = f"adaptive_max_pool{dims}d"
    output_size = (output_size,) * dims if isinstance(output_size, int) else tuple(output_size)
    if input.array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(input.shape)}")
    check_sizes(input, dims, name)
    return globals()[name](input, output_size)


def check_sizes(input, dims, name):
    for i, n in list(enumerate(input.shape))[-dims:]:
        if n == 0:
            what = "Expected input to have non-zero size for non-batch dimensions, but input has sizes"
            raise RuntimeError(f"{name}(): {what} {list(input.shape)} with dimension {i} being empty")


def adaptive_max_pool1d(input, output_size):
    check_dims(input, 2, 3, "adaptive_max_pool1d")
    check_sizes(input, 1, "adaptive_max_pool1d")
    return as_image(lambda x: adaptive_max(x, (1, one(output_size)), 2), input)


def max_pool1d(*args, **kwargs):
    return max_pool1d_and_indices(*args, **kwargs)[0]


def max_pool2d(*args, **kwargs):
    return max_pool2d_and_indices(*args, **kwargs)[0]


def max_pool3d(*args, **kwargs):
    return max_pool3d_and_indices(*args, **kwargs)[0]


publish(
    globals(),
    functions="max_pool1d max_pool2d max_pool3d max_pool1d_with_indices:max_pool1d_and_indices avg_pool1d adaptive_avg_pool1d "
    "adaptive_max_pool1d",
)
