"""Derivatives of losses that one expression does not hold."""

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import where
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.ops import losses
from gradrepl.engine.ops.activations import logsigmoid
from gradrepl.engine.ops.pointwise import div_scalar


def loss_share(tensor, reduction):
    """The reduction that a loss ends with."""
    return tensor if reduction == 0 else tensor.mean() if reduction == 1 else tensor.sum()


def spread(grad, tensor, reduction):
    """What each element of a reduced loss receives."""
    return div_scalar(grad, tensor.array.size) if reduction == 1 else grad


@formula
def mse_loss_double_backward(grad, self, reduction):
    return spread(2 * grad, self, reduction)


@formula
def smooth_l1_loss_double_backward(grad, self, target, reduction, beta):
    inside = (self - target).abs() <= beta
    return where(inside, spread(grad / beta, self, reduction), 0)


@formula
def huber_loss_double_backward_grad_output(grad, grad_output, self, target, reduction, delta):
    if reduction == 0:
        return losses.huber_loss_backward(grad, self, target, reduction, delta)
    return (losses.huber_loss_backward(grad.new_ones(()), self, target, reduction, delta) * grad).sum()


@formula
def huber_loss_double_backward(grad, self, target, reduction, delta):
    return where((self - target).abs() < delta, spread(grad, self, reduction), 0)


@formula
def soft_margin_loss_double_backward_grad_output(grad, grad_output, self, target, reduction):
    slope = losses.soft_margin_loss_backward(grad.new_ones(()), self, target, reduction)
    return slope * grad if reduction == 0 else (slope * grad).sum()


@formula
def soft_margin_loss_double_backward(grad, self, target, reduction):
    opened = (self * -target).sigmoid()
    return spread(target * target * opened * (1 - opened) * grad, self, reduction)


@formula
def binary_cross_entropy_target_backward(grad, self, target, weight, reduction):
    slope = -self.logit() * grad
    slope = slope if weight is None else slope * weight
    return spread(slope, target, reduction)


@formula
def binary_cross_entropy_double_backward(grad_output, grad, self, target, weight, reduction):
    inverse = (self * (1 - self)).clamp(min=1e-12).reciprocal()
    bend = (self * self - 2 * self * target + target) * inverse.pow(2)
    bend = bend * grad * grad_output
    return spread(bend if weight is None else bend * weight, self, reduction)


@formula
def binary_cross_entropy_double_backward_target(grad, grad_output, self, target, weight, reduction):
    result = -grad * grad_output
    result = result if weight is None else result * weight
    return spread(result / (self * (1 - self)).clamp(min=1e-12), target, reduction)


@formula
def binary_cross_entropy_double_backward_grad_output(grad, self, target, weight, reduction):
    slope = losses.binary_cross_entropy_backward(grad, self, target, weight, 0)
    return loss_share(slope, reduction)


@formula
def binary_cross_entropy_with_logits_backward(grad, self, target, weight, pos_weight, reduction):
    if pos_weight is None:
        slope = (self.sigmoid() - target) * grad
    else:
        positive = pos_weight * target
        slope = ((positive + 1 - target) * self.sigmoid() - positive) * grad
    return spread(slope if weight is None else slope * weight, self, reduction)


@formula
def binary_cross_entropy_with_logits_target_backward(grad, self, target, weight, pos_weight, reduction):
    if pos_weight is None:
        slope = -self * grad
    else:
        slope = (logsigmoid(-self) - pos_weight * logsigmoid(self)) * grad
    return spread(slope if weight is None else slope * weight, target, reduction)


@formula
def nll_of(grad, target, weight, reduction, ignore_index):
    forward = losses.nll_loss_forward if target.array.ndim < 2 else losses.nll_loss2d_forward
    return forward(grad, target, weight, reduction, ignore_index)[0]


@formula
def multi_margin_backward(grad, self, target, *arguments):
    return without_derivative("multi_margin_loss_backward", losses.multi_margin_loss_backward(grad, self, target, *arguments), grad, self)


@formula
def multilabel_margin_backward(grad, self, target, *arguments):
    result = losses.multilabel_margin_loss_backward(grad, self, target, *arguments)
    return without_derivative("multilabel_margin_loss_backward", result, grad, self)
