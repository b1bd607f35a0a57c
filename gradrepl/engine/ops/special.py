"""Special functions: declarations, 2-5 lines each. SciPy computes them; it is imported on the first call."""

import math

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.lazy import scipy_special, special
from gradrepl.engine.ops.pointwise import PAIR, TENSORS, add_scalar, in_place, mul_scalar, number_tensor, refuse_kinds
from gradrepl.engine.promotion import SCALARS, alike, narrowed
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of


@op("ErfBackward0", self="2.0 / sqrt_pi * exp(-self.pow(2)) * grad")
def erf(self):
    return special("erf", narrowed(self))


@op("ErfcBackward0", self="-2.0 / sqrt_pi * exp(-self.pow(2)) * grad")
def erfc(self):
    return special("erfc", narrowed(self))


@op("ErfinvBackward0", self="0.5 * sqrt_pi * exp(self.erfinv().pow(2)) * grad")
def erfinv(self):
    return special("erfinv", narrowed(self))


@op("SpecialErfcxBackward0", self="(2.0 * self * result - 2.0 / sqrt_pi) * grad")
def erfcx(self):
    return special("erfcx", narrowed(self))


@op("LgammaBackward0", self="grad * digamma(self)")
def lgamma(self):
    return special("gammaln", narrowed(self))


@op("DigammaBackward0", self="grad * polygamma(1, self)")
def digamma(self):
    self = narrowed(self)
    refuse_kinds(self, "digamma", "c", "")
    at_zero = np.copysign(self.dtype.type(np.inf), -self)
    return np.where(self == 0, at_zero, special("digamma", self))


@op("PolygammaBackward0", self="grad * polygamma(n + 1, self)")
def polygamma_of(self, n):
    self = narrowed(self)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    refuse_kinds(self, POLYGAMMA.get(n, "polygamma"), "c", "")
    if n < 2:
        return trigamma(self) if n else special("digamma", self)
    scale = (1 if n % 2 else -1) * math.exp(math.lgamma(n + 1))
    return (self.dtype.type(scale) * special("zeta", self.dtype.type(n + 1), self)).astype(self.dtype)


POLYGAMMA = {0: "digamma", 1: "trigamma"}


def trigamma(x):
    """The reflection below 1/2, a recurrence up to 6, then the asymptotic series: PyTorch's own steps and rounding."""
    reflected = x < 0.5
    sine = np.sin(np.pi * x)
    start = np.where(reflected, -(np.pi * np.pi) / (sine * sine), 0).astype(x.dtype)
    y, total = np.where(reflected, 1 - x, x).astype(x.dtype), start
    for _ in range(6):
        total = total + 1 / (y * y)
        y = y + 1
    inverse = 1 / (y * y)
    total = total + (1 + 1 / (2 * y) + inverse * (1 / 6 - inverse * (1 / 30 - inverse * (1 / 42)))) / y
    return np.where(reflected, -total, total).astype(x.dtype)


def polygamma(n, self):
    return polygamma_of(self, n)


def polygamma_method(self, n):
    return polygamma_of(self, n)


def polygamma_(self, n):
    return in_place(polygamma_of)(self, n)


@op("MvlgammaBackward0", self="mvlgamma_backward(grad, self, p)")
def mvlgamma(self, p):
    self = narrowed(self)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    steps = np.arange(-p / 2 + 0.5, 0.5, 0.5, dtype=self.dtype)
    total = np.add.reduce(special("gammaln", self[..., None] + steps), -1)
    return (total + self.dtype.type(p * (p - 1) * 0.25 * math.log(math.pi))).astype(self.dtype)


@op("IgammaBackward0", self="not_implemented('igamma: input')", other="grad * gamma_slope(self, other)", **TENSORS)
def igamma(self, other):
    return special("gammainc", narrowed(self), narrowed(other))


@op("IgammacBackward0", self="not_implemented('igammac: input')", other="-grad * gamma_slope(self, other)", **TENSORS)
def igammac(self, other):
    return special("gammaincc", narrowed(self), narrowed(other))


@op("I0Backward0", self="grad * i1(self)")
def i0(self):
    return special("i0", narrowed(self))


@op("SpecialI0EBackward0", self="grad * (i1e(self) - self.sgn() * result)")
def i0e(self):
    return special("i0e", narrowed(self))


@op("SpecialI1Backward0", self="i1_backward(grad, self, result)")
def i1(self):
    return special("i1", narrowed(self))


@op("SpecialI1EBackward0", self="i1e_backward(grad, self, result)")
def i1e(self):
    return special("i1e", narrowed(self))


@op("SpecialEntrBackward0", self="grad * -(1 + self.log())")
def entr(self):
    return special("entr", narrowed(self))


@op("SpecialNdtriBackward0", self="grad * root_two_pi * (result.square() / 2).exp()")
def ndtri(self):
    return special("ndtri", narrowed(self))


@op("SpecialLogNdtrBackward0", self="grad / root_two_pi * (result + self.pow(2) / 2).neg().exp()")
def log_ndtr(self):
    return special("log_ndtr", narrowed(self))


def ndtr(self):
    self = self if self.array.dtype.kind == "f" else tensor_of(narrowed(self.array))
    return mul_scalar(add_scalar(erf(mul_scalar(self, math.sqrt(0.5))), 1), 0.5)


def log_product(x, y, log):
    """x * log(y) with 0 * log(anything) = 0, and NaN where y is NaN."""
    x, y = alike(x, y)
    x, y = narrowed(x), narrowed(y)
    refuse_kinds(x, "xlogy" if log is np.log else "xlog1py")
    product = x * log(y)
    return np.where(np.isnan(y), y.dtype.type(np.nan), np.where(x == 0, y.dtype.type(0), product))


@op(
    "XlogyBackward0",
    self="masked_fill(xlogy(grad, other), logical_and(self == 0.0, other <= 0.0), 0.0)",
    other="grad * self / other",
)
def xlogy_tensors(self, other):
    return log_product(self, other, np.log)


@op("XlogyBackward1", other="grad * self / other")
def xlogy_self_number(self, other):
    return log_product(self, other, np.log)


@op("XlogyBackward2", self="xlogy(grad, other) if other > 0.0 else masked_fill(xlogy(grad, other), self == 0.0, 0.0)")
def xlogy_other_number(self, other):
    return log_product(self, other, np.log)


@op(
    "SpecialXlog1PyBackward0",
    self="masked_fill(xlog1py(grad, other), logical_and(self == 0.0, other <= -1.0), 0.0)",
    other="grad * self / (other + 1)",
)
def xlog1py_tensors(self, other):
    return log_product(self, other, np.log1p)


@op("SpecialXlog1PyBackward1", other="grad * self / (other + 1)")
def xlog1py_self_number(self, other):
    return log_product(self, other, np.log1p)


@op("SpecialXlog1PyBackward2", self="xlog1py(grad, other) if other > -1.0 else masked_fill(xlog1py(grad, other), self == 0.0, 0.0)")
def xlog1py_other_number(self, other):
    return log_product(self, other, np.log1p)


@op("SpecialZetaBackward0", self="not_implemented('zeta')", other="grad * -self * zeta(self + 1.0, other)", **PAIR)
def zeta_tensors(self, other):
    return special("zeta", narrowed(self), narrowed(other))


@op("SpecialZetaBackward1", other="grad * -self * zeta(self + 1.0, other)")
def zeta_self_number(self, other):
    return zeta_of(*alike(self, other))


@op("SpecialZetaBackward2", self="not_implemented('zeta')")
def zeta_other_number(self, other):
    return zeta_of(*alike(self, other))


def zeta_of(self, other):
    return special("zeta", narrowed(self), narrowed(other))


def either(name, both, self_number, other_number):
    """A function of two, either of which may be a number."""

    def function(self, other):
        if not isinstance(self, Tensor):
            result = self_number(self, other)
        else:
            result = (both if isinstance(other, Tensor) else other_number)(self, other)
        return result

    def function_(self, other):
        return in_place(both if isinstance(other, Tensor) else other_number)(self, other)

    function.__name__ = function.__qualname__ = name
    return function, function_


xlogy, xlogy_ = either("xlogy", xlogy_tensors, xlogy_self_number, xlogy_other_number)
xlog1py, _ = either("xlog1py", xlog1py_tensors, xlog1py_self_number, xlog1py_other_number)
zeta, _ = either("zeta", zeta_tensors, zeta_self_number, zeta_other_number)


def plain(name, compute):
    """A function without a derivative: its result is outside the graph."""

    def function(input):
        array = narrowed(input.array)
        if array.dtype.kind == "c" or array.dtype.char == "e":
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{SCALARS[array.dtype.name]}'")
        return tensor_of(compute(array))

    function.__name__ = function.__qualname__ = name
    return function


def scipy_plain(name, internal):
    return plain(name, lambda x: special(internal, x))


def spherical_bessel(x):
    small, square = np.abs(x) < 0.5, x * x
    series = np.zeros_like(x)
    for k in range(6, -1, -1):  # sin(x) / x around zero
        series = series * square + (-1) ** k / math.factorial(2 * k + 1)
    with np.errstate(all="ignore"):
        return np.where(np.isinf(x), 0, np.where(small, series, np.sin(x) / x)).astype(x.dtype)


bessel_j0, bessel_j1 = scipy_plain("bessel_j0", "j0"), scipy_plain("bessel_j1", "j1")
bessel_y0, bessel_y1 = scipy_plain("bessel_y0", "y0"), scipy_plain("bessel_y1", "y1")
modified_bessel_i0, modified_bessel_i1 = scipy_plain("modified_bessel_i0", "i0"), scipy_plain("modified_bessel_i1", "i1")
modified_bessel_k0, modified_bessel_k1 = scipy_plain("modified_bessel_k0", "k0"), scipy_plain("modified_bessel_k1", "k1")
scaled_modified_bessel_k0 = scipy_plain("scaled_modified_bessel_k0", "k0e")
scaled_modified_bessel_k1 = scipy_plain("scaled_modified_bessel_k1", "k1e")
spherical_bessel_j0 = plain("spherical_bessel_j0", spherical_bessel)
airy_ai = plain("airy_ai", lambda x: scipy_special("airy")(x)[0].astype(x.dtype))


def polynomial(name, first, step):
    """A family of polynomials p0 = 1, p1 = first(x), p(k+1) = step(k, x, p(k), p(k-1)); zero for a degree below zero or none."""

    def function(x, n):
        if not any(isinstance(v, Tensor) for v in (x, n)) or not all(
            isinstance(v, (Tensor, int, float, complex, np.number)) for v in (x, n)
        ):
            return NotImplemented
        x, n = (number_tensor(v) if not isinstance(v, Tensor) else v for v in (x, n))
        points, degrees = np.broadcast_arrays(*alike(narrowed(x.array), n.array))
        refuse_kinds(points, name)
        degrees = np.trunc(np.where(np.isfinite(degrees), degrees, -1))
        result = np.where(degrees < 0, points.dtype.type(0), points.dtype.type(1))
        before, here = np.ones_like(points), first(points).astype(points.dtype)
        for k in range(1, int(degrees.max(initial=0)) + 1):
            result = np.where(degrees == k, here, result)
            before, here = here, step(k, points, here, before).astype(points.dtype)
        return tensor_of(result)

    function.__name__ = function.__qualname__ = name
    return function


def chebyshev(name, first, shift=lambda x: x):
    return polynomial(name, lambda x: first(shift(x)), lambda k, x, here, before: 2 * shift(x) * here - before)


def shifted(x):
    return 2 * x - 1


KINDS = dict(t=lambda x: x, u=lambda x: 2 * x, v=lambda x: 2 * x - 1, w=lambda x: 2 * x + 1)
chebyshev_polynomial_t, chebyshev_polynomial_u, chebyshev_polynomial_v, chebyshev_polynomial_w = (
    chebyshev(f"chebyshev_polynomial_{kind}", first) for kind, first in KINDS.items()
)
(
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
) = (chebyshev(f"shifted_chebyshev_polynomial_{kind}", first, shifted) for kind, first in KINDS.items())
hermite_polynomial_h = polynomial("hermite_polynomial_h", lambda x: 2 * x, lambda k, x, here, before: 2 * x * here - 2 * k * before)
hermite_polynomial_he = polynomial("hermite_polynomial_he", lambda x: x, lambda k, x, here, before: x * here - k * before)
laguerre_polynomial_l = polynomial(
    "laguerre_polynomial_l", lambda x: 1 - x, lambda k, x, here, before: ((2 * k + 1 - x) * here - k * before) / (k + 1)
)
legendre_polynomial_p = polynomial(
    "legendre_polynomial_p", lambda x: x, lambda k, x, here, before: ((2 * k + 1) * x * here - k * before) / (k + 1)
)

publish(
    globals(),
    both="erf erfc erfinv lgamma digamma mvlgamma igamma igammac i0 xlogy",
    functions="polygamma xlogy_",
    methods="polygamma:polygamma_method polygamma_ xlogy_",
    in_place="erfinv lgamma digamma mvlgamma igamma igammac",
    in_place_both="erf erfc i0",
)
