"""Derivatives of special functions that one expression does not hold."""

import math

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import where
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops import special
from gradrepl.engine.tensor import tensor_of

for function in (special.polygamma, special.xlogy, special.xlog1py, special.zeta):
    formula(function)
NAMES.update(sqrt_pi=math.sqrt(math.pi), root_two_pi=math.sqrt(2 * math.pi))


@formula
def gamma_slope(self, other):
    """d gammainc(a, x) / dx."""
    return ((self - 1) * other.log() - other - self.lgamma()).exp()


@formula
def i1_backward(grad, self, result):
    """At zero the quotient is 1/2."""
    small = self.abs() <= NAMES["epsilon"](self)
    safe = where(small, NAMES["epsilon"](self), self)
    return grad * where(small, 0.5, safe.i0() - result * safe.reciprocal())


@formula
def i1e_backward(grad, self, result):
    small = self.abs() <= NAMES["epsilon"](self)
    safe = where(small, NAMES["epsilon"](self), self)
    return grad * where(small, 0.5, special.i0e(safe) - result * (self.sgn() + safe.reciprocal()))


@formula
def epsilon(tensor):
    """The spacing of floats at one, in the tensor's dtype."""
    kind = tensor.array.dtype
    return float(2.0 ** (1 - (24 if kind.itemsize == 4 else 53)))


@formula
def mvlgamma_backward(grad, self, p):
    steps = tensor_of((NAMES["np"].arange(p) * -0.5).astype(self.array.dtype))
    return grad * (self.unsqueeze(-1) + steps).digamma().sum(-1)
