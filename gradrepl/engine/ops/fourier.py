"""Fourier transforms: three declared ops, and torch.fft on them."""

import math

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.declare import op
from gradrepl.engine.dims import require, wrap_dim
from gradrepl.engine.dtypes import DTYPES, Default
from gradrepl.engine.layout import in_order
from gradrepl.engine.ops.complex import conj, conj_physical, view_as_complex, view_as_real
from gradrepl.engine.ops.padding import constant_pad, pad
from gradrepl.engine.ops.rearranging import roll
from gradrepl.engine.ops.shapes import (
    as_strided,
    narrow,
    slice_dim,
    squeeze_,
    squeeze_dim,
    transpose,
    transpose_,
    unfold_backward,
    unsqueeze,
    view_sizes,
)
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of

NORMALIZATIONS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}  # of a forward transform: not at all, by the root of n, by n


def scaled(array, count, normalization):
    factor = (1, 1 / math.sqrt(count) if count else 1, 1 / count if count else 1)[normalization]
    return array if factor == 1 else array * array.real.dtype.type(factor)


def laid_out(result, source, dims):
    """Memory runs through the other dims first, then through the transformed ones, each in the order of the input's strides."""
    outer = sorted((d for d in range(source.ndim) if d not in dims), key=lambda d: -source.strides[d])
    return in_order(result, (*outer, *dims))


def by_stride(source, dims):
    return sorted(dims, key=lambda d: -source.strides[d])


@op("FftC2CBackward0", self="fft_c2c(grad, dim, normalization, not forward)")
def fft_c2c(self, dim, normalization, forward):
    count = math.prod(self.shape[d] for d in dim)
    found = np.fft.fftn(self, axes=dim) if forward else np.fft.ifftn(self, axes=dim, norm="forward")
    return laid_out(scaled(found.astype(self.dtype, copy=False), count, normalization), self, by_stride(self, dim))


@op("FftR2CBackward0", self="fft_r2c_backward(grad, self, dim, normalization, onesided)")
def fft_r2c(self, dim, normalization, onesided):
    count = math.prod(self.shape[d] for d in dim)
    found = np.fft.rfftn(self, axes=dim) if onesided else np.fft.fftn(self, axes=dim)
    found = found.astype(np.result_type(self.dtype, np.complex64), copy=False)
    return laid_out(scaled(found, count, normalization), self, [*by_stride(self, dim[:-1]), dim[-1]])


@op("FftC2RBackward0", self="fft_c2r_backward(grad, dim, normalization)")
def fft_c2r(self, dim, normalization, last_dim_size):
    sizes = [*(self.shape[d] for d in dim[:-1]), last_dim_size]
    found = np.fft.irfftn(self, sizes, dim, norm="forward").astype(self.real.dtype, copy=False)
    return laid_out(scaled(found, math.prod(sizes), normalization), self, [*by_stride(self, dim[:-1]), dim[-1]])


# ---- reading arguments


def normalization(norm, forward):
    require(norm in NORMALIZATIONS, f'Invalid normalization mode: "{norm}"')
    kind = NORMALIZATIONS[norm]
    return kind if forward or kind == 1 else 2 - kind


def promoted(tensor, to_complex=False):
    """Integers as the default float; real numbers as complex ones where a transform needs them."""
    array = tensor.array
    require(array.dtype.kind not in "fc" or array.itemsize > 2, f"Unsupported dtype {SCALARS[array.dtype.name]}")
    kind = array.dtype if array.dtype.kind in "fc" else Default.float
    if to_complex and kind.kind != "c":
        kind = np.result_type(kind, np.complex64)
    return tensor if kind == array.dtype else tensor.to(DTYPES[kind.name])


def real_only(tensor, name):
    kind = SCALARS[tensor.array.dtype.name]
    require(tensor.array.dtype.kind != "c", f"{name} expects a real{'-valued' * name.endswith('n')} input tensor, but got {kind}")


def resized(tensor, dims, sizes):
    """The tensor cut and padded with zeros to the sizes; -1 keeps one."""
    ndim, padding = tensor.array.ndim, [0] * 2 * tensor.array.ndim
    for dim, n in zip(dims, sizes):
        have = tensor.array.shape[dim]
        if n == -1:
            continue
        if have < n:
            padding[2 * (ndim - dim) - 1] = n - have
        elif have > n:
            tensor = slice_dim(tensor, dim, 0, n, 1)
    return constant_pad(tensor, tuple(padding), 0) if any(padding) else tensor


def existing_dim(dim, ndim):
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)


def one_dim(tensor, dim):
    if not tensor.array.ndim:
        wrap_dim(dim, 0)
    return existing_dim(dim, tensor.array.ndim)


def check_points(n):
    require(n >= 1, f"Invalid number of data points ({n}) specified")


def dims_and_sizes(tensor, s, dim):
    """The dims to transform and their sizes, from what was given of both."""
    shape, ndim = tensor.array.shape, tensor.array.ndim
    if dim is not None:
        dims = [existing_dim(d, ndim) for d in ([dim] if isinstance(dim, int) else dim)]
        require(len(set(dims)) == len(dims), "FFT dims must be unique")
    s = None if s is None else [s] if isinstance(s, int) else list(s)
    if s is not None:
        require(dim is None or len(dims) == len(s), "When given, dim and shape arguments must have the same length")
        require(len(s) <= ndim, f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        if dim is None:
            dims = list(range(ndim - len(s), ndim))
        sizes = [shape[d] if n == -1 else n for n, d in zip(s, dims)]
    else:
        dims = list(range(ndim)) if dim is None else dims
        sizes = [shape[d] for d in dims]
    for n in sizes:
        check_points(n)
    return tuple(dims), sizes


# ---- one dim


def transform(input, n, dim, norm, forward):
    input = promoted(input)
    at = one_dim(input, dim)
    check_points(input.array.shape[at] if n is None else n)
    input = input if n is None else resized(input, (at,), (n,))
    if input.array.dtype.kind == "c":
        return fft_c2c(input, (at,), normalization(norm, forward), forward)
    result = fft_r2c(input, (at,), normalization(norm, forward), False)
    return result if forward else conj(result)


def fft(input, n=None, dim=-1, norm=None):
    return transform(input, n, dim, norm, True)


def ifft(input, n=None, dim=-1, norm=None):
    return transform(input, n, dim, norm, False)


def real_transform(name, input, n, dim, norm, forward):
    real_only(input, name)
    input = promoted(input)
    at = one_dim(input, dim)
    check_points(input.array.shape[at] if n is None else n)
    input = input if n is None else resized(input, (at,), (n,))
    result = fft_r2c(input, (at,), normalization(norm, forward), True)
    return result if forward else conj(result)


def rfft(input, n=None, dim=-1, norm=None):
    return real_transform("rfft", input, n, dim, norm, True)


def ihfft(input, n=None, dim=-1, norm=None):
    return real_transform("ihfft", input, n, dim, norm, False)


def to_real(input, n, dim, norm, forward):
    input = promoted(input, True)
    at = one_dim(input, dim)
    size = 2 * (input.array.shape[at] - 1) if n is None else n
    check_points(size)
    input = input if n is None else resized(input, (at,), (n // 2 + 1,))
    return fft_c2r(conj(input) if forward else input, (at,), normalization(norm, forward), size)


def irfft(input, n=None, dim=-1, norm=None):
    return to_real(input, n, dim, norm, False)


def hfft(input, n=None, dim=-1, norm=None):
    return to_real(input, n, dim, norm, True)


# ---- several dims


def transform_all(input, s, dim, norm, forward):
    input = promoted(input, True)
    dims, sizes = dims_and_sizes(input, s, dim)
    input = resized(input, dims, sizes)
    return fft_c2c(input, dims, normalization(norm, forward), forward) if dims else input.clone()


def fftn(input, s=None, dim=None, norm=None):
    return transform_all(input, s, dim, norm, True)


def ifftn(input, s=None, dim=None, norm=None):
    return transform_all(input, s, dim, norm, False)


def rfftn(input, s=None, dim=None, norm=None):
    real_only(input, "rfftn")
    input = promoted(input)
    dims, sizes = dims_and_sizes(input, s, dim)
    require(dims, "rfftn must transform at least one axis")
    return fft_r2c(resized(input, dims, sizes), dims, normalization(norm, True), True)


def half_sizes(name, input, s, dim):
    """dims and sizes for a transform to real numbers: the last size is the result's."""
    dims, sizes = dims_and_sizes(input, s, dim)
    require(dims, f"{name} must transform at least one axis")
    given = None if s is None else ([s] if isinstance(s, int) else list(s))[-1]
    last = 2 * (input.array.shape[dims[-1]] - 1) if given in (None, -1) else given
    check_points(last)
    return dims, [*sizes[:-1], last // 2 + 1], last


def irfftn(input, s=None, dim=None, norm=None):
    input = promoted(input, True)
    dims, sizes, last = half_sizes("irfftn", input, s, dim)
    return fft_c2r(resized(input, dims, sizes), dims, normalization(norm, False), last)


def hfftn(input, s=None, dim=None, norm=None):
    input = promoted(input, True)
    dims, sizes, last = half_sizes("hfftn", input, s, dim)
    input = resized(input, dims, sizes)
    kind = normalization(norm, True)
    if len(dims) > 1:
        input = fft_c2c(input, dims[:-1], kind, True)
    return fft_c2r(conj(input), dims[-1:], kind, last)


def ihfftn(input, s=None, dim=None, norm=None):
    input = promoted(input)
    dims, sizes = dims_and_sizes(input, s, dim)
    require(dims, "ihfftn must transform at least one axis")
    kind = normalization(norm, False)
    require(input.array.dtype.kind != "c", "Only supports floating-point dtypes, but found: {}", of=(input.array,))
    result = fft_r2c(resized(input, dims, sizes), dims[-1:], kind, True)
    if len(dims) == 1:
        return conj(result)
    return fft_c2c(conj_physical(result), dims[:-1], kind, False)


def in_plane(function):
    """The transform of the last two dims."""

    def call(input, s=None, dim=(-2, -1), norm=None):
        return function(input, s, dim, norm)

    call.__name__ = function.__name__.removesuffix("n") + "2"
    return call


fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = map(in_plane, (fftn, ifftn, rfftn, irfftn, hfftn, ihfftn))

# ---- shifts and frequencies


def shifted(half):
    def call(input, dim=None):
        ndim = input.array.ndim
        dims = range(ndim) if dim is None else [wrap_dim(d, ndim) for d in ([dim] if isinstance(dim, int) else dim)]
        return roll(input, tuple([half(input.array.shape[d]) for d in dims]), tuple(dims))

    return call


fftshift, ifftshift = shifted(lambda n: n // 2), shifted(lambda n: (n + 1) // 2)


def frequencies(name):
    """NumPy's function of that name, looked up when called: NumPy imports its transforms on first use."""

    def call(n, d=1.0, *, dtype=None, layout=None, device=None, requires_grad=False):
        result = tensor_of(getattr(np.fft, name)(n, d).astype(dtype.array if dtype else Default.float))
        return result.requires_grad_(requires_grad) if requires_grad else result

    call.__name__ = name
    return call


fftfreq, rfftfreq = frequencies("fftfreq"), frequencies("rfftfreq")

# ---- short time

NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. Other windows such as "
    "torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage.To suppress this warning and use a rectangular "
    "window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)
WANT_COMPLEX = (
    "stft requires the return_complex parameter be given for real inputs, "
    "and will further require that return_complex=True in a future PyTorch release."
)


def centered(input, width, mode):
    """The signal with `width` more samples at both ends."""
    shape = input.array.shape
    wide = pad(view_sizes(input, (1,) * (3 - len(shape)) + shape), (width, width), mode)
    return view_sizes(wide, wide.array.shape[3 - len(shape) :])


def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """The transforms of overlapping frames of a signal: (…, frequencies, frames)."""
    input = centered(input, n_fft // 2, pad_mode) if center else input
    hop, length = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    if window is None:
        warn_once(NO_WINDOW, "SpectralOps.cpp:835")
    complex_input = input.array.dtype.kind == "c" or window is not None and window.array.dtype.kind == "c"
    require(return_complex is not None or complex_input, WANT_COMPLEX)
    single = input.array.ndim == 1
    signal = unsqueeze(input, 0) if single else input
    check_frames(signal.array.shape[1], n_fft, hop, length, window)
    frames = 1 + (signal.array.shape[1] - n_fft) // hop
    outer, inner = (s // signal.array.itemsize for s in signal.array.strides)
    signal = as_strided(signal, (signal.array.shape[0], frames, n_fft), (outer, hop * inner, inner))
    signal = windowed(signal, n_fft, length, window)
    if signal.array.dtype.kind == "c":
        result = fft_c2c(signal, (2,), int(normalized), True)
    else:
        result = fft_r2c(signal, (2,), int(normalized), onesided is None or onesided)
    transpose_(result, 1, 2)
    result = squeeze_(result, 0) if single else result
    return result if return_complex or complex_input and return_complex is None else view_as_real(result)


def check_frames(length, n_fft, hop, win_length, window):
    require(0 < n_fft <= length, f"stft(...): expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    require(hop > 0, f"stft(...): expected hop_length > 0, but got hop_length={hop}")
    require(0 < win_length <= n_fft, f"stft(...): expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and window.array.shape != (win_length,):
        raise RuntimeError(
            f"expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(window.array.shape)}"
        )


def windowed(frames, n_fft, length, window):
    """The frames times the window, which lies in the middle of a frame."""
    if length < n_fft:
        window = window_of(n_fft, length, window, frames.array.dtype)
    return frames if window is None else frames * window


def istft(
    self,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal whose frames have these transforms: the frames' inverses, laid over each other and divided by the windows'."""
    if window is None:
        warn_once(NO_INVERSE_WINDOW, "SpectralOps.cpp:1044")
    hop, width = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    require(self.array.dtype.kind == "c", WANT_COMPLEX_INPUT)
    signal = view_as_real(self)
    signal = unsqueeze(signal, 0) if self.array.ndim == 2 else signal
    frames = signal.array.shape[2]
    total = n_fft + hop * (frames - 1)
    window = window_of(n_fft, width, window, signal.array.real.dtype)
    signal = inverse_frames(view_as_complex(transpose(signal, 1, 2)), n_fft, int(normalized), onesided, return_complex)
    batch = signal.array.shape[0]
    signal = unfold_backward(signal * view_sizes(window, (1, 1, n_fft)), (batch, total), 1, n_fft, hop)
    squares = (window * window).expand(1, frames, n_fft)
    envelope = unfold_backward(squares, (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - (n_fft // 2 if center else 0)
    signal, envelope = slice_dim(signal, 1, start, end, 1), slice_dim(envelope, 1, start, end, 1)
    least = np.abs(envelope.array).min(initial=np.inf)
    require(least > 1e-11, f"istft(...) window overlap add min: {int(least < 1e-11)}")
    signal = signal / envelope
    signal = squeeze_dim(signal, 0) if self.array.ndim == 2 else signal
    return signal if end <= total else constant_pad(signal, (0, end - total), 0)


NO_INVERSE_WINDOW = (
    "A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to make the inversion "
    "lossless.To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)
WANT_COMPLEX_INPUT = "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."


def inverse_frames(signal, n_fft, normalized, onesided, return_complex):
    kind = 1 if normalized else 2
    if return_complex:
        return fft_c2c(signal, (2,), kind, False)
    if onesided is False or onesided is None and signal.array.shape[2] == n_fft:
        signal = slice_dim(signal, 2, 0, n_fft // 2 + 1, 1)
    return fft_c2r(signal, (2,), kind, n_fft)


def window_of(n_fft, width, window, dtype):
    """The window in the middle of n_fft samples."""
    full = tensor_of(np.zeros(n_fft, dtype))
    part = narrow(full, 0, (n_fft - width) // 2, width)
    part.fill_(1) if window is None else part.copy_(window)
    return full


publish(globals(), both="stft istft")
