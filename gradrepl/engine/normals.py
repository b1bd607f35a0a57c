"""Normal numbers in single precision to the digit: logarithm, sine and cosine as in PyTorch's vector code. Imports NumPy only.

Its instructions multiply and add with one rounding. That is a product and a sum in double precision here, rounded to single at the end;
all arrays are double, and hold numbers of single precision.
"""

import numpy as np

CHUNK = 1 << 10  # rows of 16 at a time: what stays in the cache

LOGARITHM = [7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1]
LOGARITHM += [-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1]
SINE = [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]
COSINE = [2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2]
QUARTER_TURN = [-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8]  # -π/4 in three parts
LOG_2 = [-2.12194440e-4, 0.693359375]
SQRT_HALF, OCTANTS, FULL_TURN = (float(np.float32(x)) for x in (0.707106781186547524, 1.27323954473516, 2 * np.pi))


def single(array):
    return array.astype(np.float32).astype(np.float64)


def polynomial(x, coefficients):
    first, *rest = map(float, np.float32(coefficients))
    value = np.full_like(x, first)
    for coefficient in rest:
        value = single(value * x + coefficient)
    return value


def logarithm(x):
    """Of numbers in (0, 1]."""
    mantissa, exponent = np.frexp(x)
    low, high = map(float, np.float32(LOG_2))
    below = mantissa < SQRT_HALF
    exponent = exponent - below
    x = np.where(below, 2 * mantissa, mantissa) - 1
    square = single(x * x)
    rest = single(single(polynomial(x, LOGARITHM) * x) * square + single(exponent * low))
    return single(exponent * high + single(x + single(rest - 0.5 * square)))


def sine_and_cosine(angle):
    """Of angles that are not negative."""
    octant = (single(angle * OCTANTS).astype(np.int32) + 1) & ~1
    for part in map(float, np.float32(QUARTER_TURN)):
        angle = single(octant * part + angle)
    square = single(angle * angle)
    sine = single(single(polynomial(square, SINE) * square) * angle + angle)
    cosine = single(single(single(polynomial(square, COSINE) * square) * square - 0.5 * square) + 1)
    swapped = octant & 2 != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    return np.where(octant & 4, -sine, sine), np.where((octant - 2) & 4, cosine, -cosine)


def box_muller(uniform, mean, std):
    """Rows of 16 uniform numbers turned into normal ones: the first eight give the radius, the others the angle."""
    return np.concatenate([turned(uniform[i : i + CHUNK].astype(np.float64), mean, std) for i in range(0, len(uniform), CHUNK)])


def turned(uniform, mean, std):
    radius = single(np.sqrt(single(-2 * logarithm(1 - uniform[:, :8]))))
    sine, cosine = sine_and_cosine(single(FULL_TURN * uniform[:, 8:]))
    points = np.concatenate([single(radius * cosine), single(radius * sine)], 1)
    return (points * float(np.float32(std)) + float(np.float32(mean))).astype(np.float32)
