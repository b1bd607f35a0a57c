"""Derivatives of operations on complex numbers, in PyTorch's convention: the conjugate gradient."""

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import where, zeros_like
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops import complex as complex_ops

formula(complex_ops.conj_physical)
NAMES["real"] = complex_ops.real


@formula
def real_of(grad, real):
    """The part that belongs to `real`, which PyTorch saves and does not need."""
    return complex_ops.real(grad)


@formula
def imag_of(grad, imag):
    return complex_ops.imag(grad)


@formula
def polar_backward(grad, result):
    direction = grad.conj() * result.sgn()
    turn = grad.conj() * (result * 1j)
    return [complex_ops.real(direction), complex_ops.real(turn)]


@formula
def angle_backward(grad, self):
    if self.array.dtype.kind != "c":
        return zeros_like(self)
    x, y = complex_ops.real(self), complex_ops.imag(self)
    size = x * x + y * y
    slope = complex_ops.complex(-y / size, x / size)
    return where(self == 0.0, zeros_like(self), slope) * grad
