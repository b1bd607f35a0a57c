"""Derivatives of activations that one expression does not hold."""

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import where
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.ops import activations
from gradrepl.engine.ops.activations import DENSITY, GELU_SCALE
from gradrepl.engine.ops.joining import cat
from gradrepl.engine.ops.pointwise import add_scalar, subtracted_from


@formula
def elu_double_backward(grad, grad_output, alpha, scale, input_scale, is_result, x):
    if is_result:
        return grad * grad_output * input_scale * (x < 0).to(grad.dtype)
    slope = (x * input_scale).exp() * (alpha * input_scale * input_scale * scale)
    return slope * grad * grad_output * (x < 0).to(grad.dtype)


@formula
def silu_backward(grad, self):
    opened = self.sigmoid()
    return grad * opened * add_scalar(self * subtracted_from(opened, 1), 1)


@formula
def hardsigmoid_backward(grad, self):
    return without_derivative("hardsigmoid_backward", activations.hardsigmoid_slope(grad, self), grad, self)


@formula
def mish_backward(grad, self):
    bent, opened = self.exp().log1p().tanh(), self.sigmoid()
    return grad * (bent + self * opened * subtracted_from(bent * bent, 1))


@formula
def gelu_double_backward(grad, grad_output, self, approximate):
    if approximate == "none":
        return grad * grad_output * (2 - self * self) * DENSITY * (-0.5 * self * self).exp()
    inner = GELU_SCALE * (self + 0.044715 * self.pow(3))
    first, second = GELU_SCALE * (1 + 3 * 0.044715 * self.pow(2)), GELU_SCALE * 6 * 0.044715 * self
    bent = inner.tanh()
    flat = 1 - bent * bent
    return grad * grad_output * (flat * first + 0.5 * self * (flat * second - 2 * bent * flat * first * first))


@formula
def softplus_double_backward(grad, self, beta, threshold):
    opened = (self * beta).sigmoid()
    return grad * opened * (1 - opened) * beta * (self * beta < threshold).to(grad.dtype)


@formula
def log_sigmoid_double_backward(grad, self):
    opened = self.sigmoid()
    return grad * (opened - 1) * opened


@formula
def glu_halves(self, dim):
    size = self.shape[dim] // 2
    return self.narrow(dim, 0, size), self.narrow(dim, size, size).sigmoid()


@formula
def glu_double_backward_grad_output(grad, self, dim):
    first, opened = glu_halves(self, dim)
    size = first.shape[dim]
    return grad.narrow(dim, 0, size) * opened + grad.narrow(dim, size, size) * first * opened * (1 - opened)


@formula
def glu_double_backward(grad, grad_output, self, dim):
    first, opened = glu_halves(self, dim)
    size = first.shape[dim]
    to_first, to_gate = grad.narrow(dim, 0, size), grad.narrow(dim, size, size)
    slope = opened * (1 - opened)
    bend = slope * (1 - 2 * opened)
    return cat([to_gate * grad_output * slope, grad_output * (to_first * slope + to_gate * first * bend)], dim)


@formula
def prelu_double_backward(grads, grad_output, self, weight):
    to_self, to_weight = grads
    positive = self >= 0
    parts = [None, None, None]
    if to_self is not None:
        parts[0], parts[2] = where(positive, to_self, to_self * weight), where(positive, 0, grad_output * to_self)
    if to_weight is not None:
        bent = where(positive, 0, to_weight * self)
        parts[0], parts[1] = bent if parts[0] is None else parts[0] + bent, where(positive, 0, grad_output * to_weight)
    return parts


@formula
def rrelu_backward(grad, self, noise, lower, upper, training, is_result):
    if training and upper - lower > 1e-6:
        return grad * noise
    return activations.leaky_relu_backward(grad, self, (lower + upper) / 2, is_result)
