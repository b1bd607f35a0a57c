"""Window functions of signal processing. Imports the engine's factories."""

import math

import numpy as np

from gradrepl.engine.dtypes import Default
from gradrepl.engine.factories import fresh, made_by
from gradrepl.engine.public import publish

CPP_NAMES = dict(int64="long int", int32="int", int16="short int", int8="signed char", uint8="unsigned char", bool="bool")
WRONG_DTYPE = (
    "{}_window expects floating point dtypes, got: TensorOptions(dtype={}, device=cpu, layout=Strided (default), "
    "requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))"
)


def window(name, shape):
    """A window by its shape, a function of (0, 1, …, last as an array; last). A periodic one is a longer one without its end."""

    @made_by
    def factory(window_length, periodic=True, *parameters, dtype=None, **named):
        kind = dtype or Default.float
        if window_length < 0:
            raise RuntimeError(f"{name}_window requires non-negative window_length, got window_length={window_length}")
        if kind.kind not in "fc":
            raise RuntimeError(WRONG_DTYPE.format(name, CPP_NAMES.get(kind.name, kind.name)))
        if window_length < 2:
            return np.ones(window_length, kind)
        length = window_length + bool(periodic)
        return shape(np.arange(length, dtype=kind), length - 1, *parameters, **named)[:window_length]

    factory.__name__ = factory.__wrapped__.__name__ = f"{name}_window"
    return factory


def hamming(n, last, alpha=0.54, beta=0.46):
    kind = n.dtype.type
    return np.cos(n * kind(2 * math.pi / last)) * kind(-beta) + kind(alpha)


def hann(n, last):
    return hamming(n, last, 0.5, 0.5)


def bartlett(n, last):
    ramp = n * n.dtype.type(2 / last)
    half = (last >> 1) + 1
    ramp[half:] = 2 - ramp[half:]
    return ramp


def blackman(n, last):
    kind = n.dtype.type
    angle = n * kind(math.pi / last)
    return np.cos(angle * kind(4)) * kind(0.08) - np.cos(angle * kind(2)) * kind(0.5) + kind(0.42)


def kaiser(n, last, beta=12.0):
    ratio = n.astype(np.float64) * (2 / last) - 1
    return (np.i0(beta * np.sqrt(np.maximum(1 - ratio**2, 0))) / np.i0(beta)).astype(n.dtype)


hann_window, hamming_window, bartlett_window = window("hann", hann), window("hamming", hamming), window("bartlett", bartlett)
blackman_window, kaiser_window = window("blackman", blackman), window("kaiser", kaiser)


def nonzero_static(input, *, size, fill_value=-1, out=None):
    """The places that are not zero, cut or filled up to a fixed number."""
    found = np.argwhere(input.array)[:size]
    places = np.full((size, input.array.ndim), fill_value, np.int64)
    places[: len(found)] = found
    return fresh(places) if out is None else out.copy_(fresh(places))


publish(globals(), functions="hann_window hamming_window bartlett_window blackman_window kaiser_window", both="nonzero_static")
