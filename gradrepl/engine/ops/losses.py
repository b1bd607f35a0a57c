"""Losses: declarations, 2-5 lines each. torch.nn.functional is built on them."""

import numpy as np

from gradrepl.engine.declare import Array, op
from gradrepl.engine.recorder import Maybe

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def reduced(array, reduction):
    """0: as it is, 1: its mean, 2: its sum."""
    if reduction == 0:
        return array
    total = np.add.reduce(array, None)
    return total if reduction == 2 else np.true_divide(total, array.dtype.type(array.size))


@op(
    "MseLossBackward0",
    self="mse_loss_backward(grad, self, target, reduction)",
    target="mse_loss_backward(grad, target, self, reduction)",
    promote="self, target",
)
def mse_loss_reduced(self, target, reduction=1):
    return reduced(np.square(np.subtract(self, target)), reduction)


@op(
    "MseLossBackwardBackward0",
    grad_output="mse_loss_double_backward_grad_output(grad, grad_output, self, target, reduction)",
    self="mse_loss_double_backward(grad * grad_output, self, reduction)",
    target="-mse_loss_double_backward(grad * grad_output, target, reduction)",
)
def mse_loss_backward(grad_output, self, target, reduction):
    scale = 2.0 / self.size if reduction == 1 else 2.0
    return scale * (self - target) * grad_output


@op(
    "NllLossBackward0",
    outputs="output, total_weight",
    differentiable="output",
    self="nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)",
)
def nll_loss_forward(self, target: Array, weight: Maybe = None, reduction=1, ignore_index=-100):
    return nll(self, target, weight, reduction, ignore_index)


@op(
    "NllLoss2DBackward0",
    outputs="output, total_weight",
    differentiable="output",
    self="nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)",
)
def nll_loss2d_forward(self, target: Array, weight: Maybe = None, reduction=1, ignore_index=-100):
    return nll(self, target, weight, reduction, ignore_index)


def class_weights(target, weight, ignore_index, classes, dtype):
    """The weight of every target's class (zero where it is ignored), and the targets with a valid class put in there."""
    ignored = target == ignore_index
    outside = target[((target < 0) | (target >= classes)) & ~ignored]
    if outside.size:
        raise IndexError(f"Target {outside.flat[0]} is out of bounds.")
    safe = np.where(ignored, 0, target)
    weights = np.ones(target.shape, dtype) if weight is None else weight[safe]
    return np.where(ignored, dtype.type(0), weights), safe


def nll(scores, target, weight, reduction, ignore_index):
    """-w[t] x[t]; classes are the second dimension, or the only one."""
    axis = min(1, scores.ndim - 1)
    weights, safe = class_weights(target, weight, ignore_index, scores.shape[axis], scores.dtype)
    losses = -weights * np.take_along_axis(scores, np.expand_dims(safe, axis), axis).squeeze(axis)
    if reduction == 0:
        return losses, np.zeros((), scores.dtype)
    total = np.add.reduce(weights, None)
    summed = np.add.reduce(losses, None)
    return (np.true_divide(summed, total) if reduction == 1 else summed), total


@op("NllLossBackwardBackward0", grad_output="nll_of(grad, target, weight, reduction, ignore_index, total_weight)")
def nll_loss_backward(grad_output, self: Array, target: Array, weight: Maybe, reduction, ignore_index, total_weight: Array):
    axis = min(1, self.ndim - 1)
    weights, safe = class_weights(target, weight, ignore_index, self.shape[axis], self.dtype)
    share = -weights * (grad_output / total_weight if reduction == 1 else grad_output)
    result = np.zeros(self.shape, self.dtype)
    np.put_along_axis(result, np.expand_dims(safe, axis), np.expand_dims(share, axis), axis)
    return result
