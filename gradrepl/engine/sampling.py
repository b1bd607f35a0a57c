"""Draws by rejection, one element at a time: Poisson, binomial, gamma, Dirichlet. Imports random and the engine's declarations.

Poisson and binomial: W. Hoermann, "The transformed rejection method for generating Poisson random variables" (1993) and "The generation of
binomial random variates" (1993). Gamma: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables" (2000). The order of
the draws is PyTorch's.
"""

import functools
import math

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dtypes import scalar_name
from gradrepl.engine.factories import fresh
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.public import publish
from gradrepl.engine.random import default_generator, few_normals, need
from gradrepl.engine.recorder import Array

THIRD, SQUEEZE = float(np.float32(1) / np.float32(3)), float(np.float32(0.0331))
# what Stirling's formula misses of log(k!), for k up to 9
TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
    0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


class Draws:
    """Uniform and normal numbers from a generator, one at a time."""

    def __init__(self, generator):
        self.generator = generator

    def uniform(self):
        return float(self.generator.doubles(1)[0])

    def normal(self):
        return float(few_normals(1, self.generator)[0])


def poisson_number(rate, draws):
    need(rate >= 0, "invalid Poisson rate, expected rate to be non-negative")
    if rate == 0:
        return 0
    return poisson_large(rate, draws) if rate >= 10 else poisson_small(rate, draws)


def poisson_small(rate, draws):
    """As many uniform factors as keep the product above exp(-rate)."""
    count, product, least = 0, draws.uniform(), math.exp(-rate)
    while product > least:
        count, product = count + 1, product * draws.uniform()
    return count


def poisson_large(rate, draws):
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, tight = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = draws.uniform() - 0.5, draws.uniform()
        room = 0.5 - abs(u)
        k = math.floor((2 * a / room + b) * u + rate + 0.43)
        if room >= 0.07 and v <= tight:
            return k
        if k < 0 or room < 0.013 and v > room:
            continue
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (room * room) + b) <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k


def binomial_number(count, prob, draws):
    if count <= 0 or prob <= 0:
        return 0
    if prob >= 1:
        return count
    rare = prob if prob <= 0.5 else 1 - prob
    hits = (binomial_large if count * rare >= 10 else binomial_small)(count, rare, draws)
    return hits if prob <= 0.5 else count - hits


def binomial_small(count, prob, draws):
    """How many geometric waits fit."""
    passed = hits = 0
    while True:
        passed += math.ceil(math.log(draws.uniform()) / math.log1p(-prob))
        if passed > count:
            return hits
        hits += 1


def binomial_large(count, prob, draws):
    spread = math.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    tight, odds, alpha = 0.92 - 4.2 / b, prob / (1 - prob), (2.83 + 5.1 / b) * spread
    mode = math.floor((count + 1) * prob)
    while True:
        u, v = draws.uniform() - 0.5, draws.uniform()
        room = 0.5 - abs(u)
        k = math.floor((2 * a / room + b) * u + count * prob + 0.5)
        if room >= 0.07 and v <= tight:
            return k
        if not 0 <= k <= count:
            continue
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + (tail(mode) + tail(count - mode) - tail(k) - tail(count - k))
        )
        if math.log(v * alpha / (a / (room * room) + b)) <= bound:
            return k


def tail(k):
    if k <= 9:
        return TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def gamma_number(alpha, draws, kept=float):
    """`kept`: the precision of alpha, and of what is computed from it alone."""
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale, alpha = math.pow(1 - draws.uniform(), kept(1 / alpha)), kept(alpha + 1)
    d = kept(alpha - THIRD)
    c = 1 / math.sqrt(9 * d)
    while True:
        x = draws.normal()
        y = 1 + c * x
        if y <= 0:
            continue
        v, u = y * y * y, 1 - draws.uniform()
        if u < 1 - SQUEEZE * x**4 or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
            return scale * d * v


def gammas(array, generator):
    kept = float if array.dtype.itemsize > 4 else lambda x: float(np.float32(x))
    return each(functools.partial(gamma_number, kept=kept), generator, array)


def each(draw, generator, *arrays):
    """What `draw` gives for every element, with its parameters from arrays of one shape."""
    draws = Draws(generator)
    rows = zip(*[a.astype(np.float64).ravel().tolist() for a in arrays], strict=True)
    return np.array([draw(*row, draws) for row in rows], np.float64).reshape(arrays[0].shape)


@op("PoissonBackward0", self="zeros_like(grad)")
def poisson_of(self, generator):
    if self.dtype.kind != "f":
        raise NotImplementedError(f"\"poisson_cpu\" not implemented for '{scalar_name(self.dtype)}'")
    return each(poisson_number, generator, self).astype(self.dtype)


@op("StandardGammaBackward0", self="grad * standard_gamma_grad(self, result)")
def standard_gamma(self, generator):
    check_floating(self, "gamma_cpu")
    return np.maximum(gammas(self, generator), np.finfo(self.dtype).tiny).astype(self.dtype)


@op("StandardGammaGradBackward0", self="not_implemented('_standard_gamma_grad')")
def standard_gamma_grad(self, output: Array):
    check_floating(self, "_standard_gamma_grad_cpu", half=False)
    from gradrepl.engine.reparametrized import gamma_gradient

    return gamma_gradient(self, output).astype(self.dtype)


def check_floating(array, kernel, half=True):
    if array.dtype.kind != "f" or not half and array.dtype.itemsize == 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(array.dtype)}'")


def poisson(input, generator=None):
    return poisson_of(input, generator or default_generator)


def binomial(count, prob, generator=None):
    parameters = np.broadcast_arrays(count.array, prob.array)
    drawn = each(binomial_number, generator or default_generator, *parameters)
    return without_derivative("binomial", fresh(drawn.astype(count.array.dtype)), count, prob)


def _standard_gamma(input, generator=None):
    return standard_gamma(input, generator or default_generator)


def _standard_gamma_grad(input, output):
    check_same_dtype(input, output)
    return standard_gamma_grad(input, output)


def check_same_dtype(first, *others):
    for other in others:
        if other.array.dtype is not first.array.dtype:
            raise RuntimeError(f"Found dtype {scalar_name(other.array.dtype)} but expected {scalar_name(first.array.dtype)}")


def _sample_dirichlet(input, generator=None):
    array = input.array
    check_floating(array, "dirichlet")
    drawn = each(gamma_number, generator or default_generator, array)  # in double precision, whatever alpha's
    shares = drawn / drawn.sum(-1, keepdims=True)
    within = np.clip(shares, np.finfo(array.dtype).tiny, np.nextafter(array.dtype.type(1), array.dtype.type(0)))
    return without_derivative("_sample_dirichlet", fresh(within.astype(array.dtype)), input)


def _dirichlet_grad(x, alpha, total):
    check_floating(x.array, "_dirichlet_grad_cpu", half=False)
    check_same_dtype(x, alpha, total)
    from gradrepl.engine.reparametrized import dirichlet_gradient

    slope = dirichlet_gradient(x.array, alpha.array, total.array)
    return without_derivative("_dirichlet_grad", fresh(slope.astype(x.array.dtype)), x, alpha, total)


publish(globals(), functions="poisson binomial _standard_gamma _standard_gamma_grad _sample_dirichlet _dirichlet_grad")
