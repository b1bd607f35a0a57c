"""Derivatives of Fourier transforms. Everything here runs on tensors, so that it can be differentiated."""

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.indexing import new_zeros
from gradrepl.engine.ops.fourier import fft_c2c, fft_r2c


@formula
def fft_r2c_backward(grad, self, dim, normalization, onesided):
    """The inverse transform of the gradient; the half that was not kept gets zeros."""
    if onesided:
        last, size = dim[-1], self.array.shape[dim[-1]]
        kept = grad.array.shape[last]
        if size > kept:
            full = new_zeros(grad, (*grad.array.shape[:last], size, *grad.array.shape[last + 1 :]))
            full.narrow(last, 0, kept).copy_(grad)
            grad = full
    return fft_c2c(grad, dim, normalization, False).real


@formula
def fft_c2r_backward(grad, dim, normalization):
    """The transform of the gradient; what stands for two conjugate halves counts twice."""
    result = fft_r2c(grad, dim, normalization, True)
    double = grad.array.shape[dim[-1]] - result.array.shape[dim[-1]]
    if double > 0:
        result.narrow(dim[-1], 1, double).mul_(2)
    return result
