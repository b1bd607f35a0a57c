"""Derivatives of special functions that one expression does not hold."""

import math

import numpy as np

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
    large = self.abs() > epsilon(self)
    safe = where(large, self, epsilon(self))
    return grad * where(large, safe.i0() - result * safe.reciprocal(), 0.5)


@formula
def i1e_backward(grad, self, result):
    large = self.abs() > epsilon(self)
    safe = where(large, self, epsilon(self))
    return grad * where(large, special.i0e(safe) - result * (safe.sgn() + safe.reciprocal()), 0.5)


@formula
def epsilon(tensor):
    """The spacing of floats at one, in the tensor's dtype."""
    kind = tensor.array.dtype
    return float(2.0 ** (1 - (24 if kind.itemsize == 4 else 53)))


@formula
def mvlgamma_backward(grad, self, p):
    steps = tensor_of((np.arange(p) * -0.5).astype(self.array.dtype))
    return grad * (steps + self.unsqueeze(-1)).digamma().sum(-1)
