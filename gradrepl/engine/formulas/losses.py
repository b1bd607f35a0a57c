"""Derivatives of losses that one expression does not hold."""

from gradrepl.engine.declare import formula
from gradrepl.engine.ops import losses


def loss_share(tensor, reduction):
    """The reduction that a loss ends with, on tensors."""
    return tensor if reduction == 0 else tensor.mean() if reduction == 1 else tensor.sum()


@formula
def mse_loss_double_backward_grad_output(grad, grad_output, self, target, reduction):
    slope = 2.0 * (self - target) * grad
    return loss_share(slope, reduction)


@formula
def mse_loss_double_backward(grad, self, reduction):
    return 2.0 * grad / self.array.size if reduction == 1 else 2.0 * grad


@formula
def nll_of(grad, target, weight, reduction, ignore_index, total_weight):
    forward = losses.nll_loss_forward if target.array.ndim < 2 else losses.nll_loss2d_forward
    return forward(grad, target, weight, reduction, ignore_index)[0]
