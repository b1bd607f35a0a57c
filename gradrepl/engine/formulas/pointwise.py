"""Derivatives of arithmetic and of functions of one tensor that one expression does not hold."""

import cmath
import math

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import where, zeros_like
from gradrepl.engine.ops import comparison, pointwise, unary
from gradrepl.engine.ops.pointwise import add_scalar, mul_scalar, sub_scalar, subtracted_from
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.tensor import Tensor

for function in (
    pointwise.subtracted_from,
    pointwise.divided_into,
    unary.exp,
    unary.exp2,
    unary.log,
    pointwise.pow,
    comparison.masked_fill,
    comparison.logical_not,
    comparison.logical_or,
    comparison.logical_and,
    comparison.isnan,
    comparison.isfinite,
):
    formula(function)


@formula
def conj(value):
    """The complex conjugate; of what is real, itself."""
    if isinstance(value, Tensor):
        return value if value.array.dtype.kind != "c" else value.conj()
    return value.conjugate()


@formula
def pow_backward(grad, self, exponent):
    """d self^n = n self^(n-1), and exactly zero for n = 0."""
    return zeros_like(grad) if exponent == 0 else grad * conj(mul_scalar(self.pow(exponent - 1), exponent))


@formula
def pow_backward_self(grad, self, exponent):
    """The same with a tensor of exponents."""
    return where(exponent == 0, zeros_like(grad), grad * conj(exponent * self.pow(sub_scalar(exponent, 1))))


@formula
def pow_backward_exponent(grad, self, exponent, result):
    """d exponent of self^exponent is result * log(self), and zero where 0^exponent with exponent >= 0."""
    if not isinstance(self, Tensor):
        if self == 0:
            return grad * where(exponent >= 0, zeros_like(result), conj(mul_scalar(result, -math.inf)))
        wide = isinstance(self, complex) or result.array.dtype.kind == "c"
        log = cmath.log(self) if wide else math.log(self) if self > 0 else math.nan
        return grad * conj(mul_scalar(result, log))
    settled = comparison.logical_and(self == 0, at_least_zero(exponent))
    base = self if self.array.dtype.kind == "c" or result.array.dtype.kind != "c" else self.to(result.dtype)
    return grad * where(settled, zeros_like(result), conj(result * base.log()))


def at_least_zero(exponent):
    return exponent >= 0 if exponent.array.dtype.kind != "c" else comparison.logical_and(exponent.imag == 0, exponent.real >= 0)


@formula
def power_of_two(exponent):
    """2^exponent; of integers the whole part, as PyTorch has it: nothing comes back from a negative exponent."""
    power = pointwise.pow(2.0, exponent)
    return power if exponent.array.dtype.kind in "fc" else unary.floor(power)


@formula
def floats(tensor):
    """What PyTorch divides a number by in place: it has no place for the quotients of integers."""
    if tensor.array.dtype.kind in "biu":
        kind = SCALARS[tensor.array.dtype.name]
        raise RuntimeError(f"result type Float can't be cast to the desired output type {kind}")
    return tensor


@formula
def div_self_backward(grad, other, rounding_mode):
    return grad / conj(other) if rounding_mode is None else zeros_like(grad)


@formula
def div_other_backward(grad, self, other, rounding_mode):
    return -grad * conj((self / other) / other) if rounding_mode is None else zeros_like(grad)


@formula
def atan2_backward(grad, self, other, mask):
    square = self * self + other * other
    scale = comparison.masked_fill(square.reciprocal(), square == 0, 0)
    return [grad * other * scale if mask[0] else None, grad * -self * scale if mask[1] else None]


@formula
def copysign_backward(grad, self, result):
    return grad * comparison.masked_fill(result / self, self == 0, 0)


@formula
def clamp_backward(grad, self, min, max):
    """The gradient passes where nothing was cut off, the bounds included."""
    inside = self >= min if min is not None else None
    if max is not None:
        inside = self <= max if inside is None else comparison.logical_and(inside, self <= max)
    return where(inside, grad, 0)


@formula
def clamp_backward_min_max(grad, self, min, max, mask):
    to_min = to_max = None
    if mask[0]:
        below = self < min if max is None else comparison.logical_and(self < min, min < max)
        to_min = where(below, grad, 0)
    if mask[1]:
        above = self > max if min is None else comparison.logical_or(self > max, max < min)
        to_max = where(above, grad, 0)
    return [to_min, to_max]


@formula
def acosh_backward(grad, self):
    if self.array.dtype.kind == "c":
        return grad * conj(add_scalar(self, 1).rsqrt() * sub_scalar(self, 1).rsqrt())
    return grad * sub_scalar(self * self, 1).rsqrt()


@formula
def sgn_backward(self, grad, result):
    if self.array.dtype.kind != "c":
        return zeros_like(grad)
    size = self.abs()
    return where(size == 0, zeros_like(grad), (grad - (result * (grad * conj(result)).real)) / size)


@formula
def logit_backward(grad, self, eps):
    slope = grad / (self * subtracted_from(self, 1))
    if eps is None:
        slope = where(self == 0, mul_scalar(grad, math.inf), slope)  # whatever the sign of the zero
        return where(comparison.logical_or(self < 0, self > 1), math.nan, slope)
    return where(comparison.logical_or(self < eps, self > 1 - eps), 0, slope)


@formula
def sinc_backward(grad, self):
    turned = mul_scalar(self, math.pi)
    square = mul_scalar(self * self, math.pi)
    slope = grad * conj((turned * turned.cos() - turned.sin()) / square)
    return where(square == 0.0, zeros_like(grad), slope)


@formula
def masked_fill_backward(grad, mask):
    return where(mask, grad, 0).sum()
