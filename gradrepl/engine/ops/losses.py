"""Losses: declarations, 2-5 lines each, with the ops that their derivatives are. torch.nn.functional is built on them."""

import numpy as np

from gradrepl.engine import single
from gradrepl.engine.declare import Array, op
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.recorder import Maybe


def reduced(array, reduction):
    """0: as it is, 1: its mean, 2: its sum."""
    if reduction == 0:
        return array
    total = single.total(array)
    return total if reduction == 2 else np.true_divide(total, array.dtype.type(array.size))


def share(grad_output, array, reduction):
    """The gradient that each element of a reduced loss receives."""
    return grad_output / array.size if reduction == 1 else grad_output


PAIR = dict(promote="self, target")


@op(
    "MseLossBackward0",
    self="mse_loss_backward(grad, self, target, reduction)",
    target="mse_loss_backward(grad, target, self, reduction)",
    **PAIR,
)
def mse_loss(self, target, reduction=1):
    return reduced(np.square(np.subtract(self, target)), reduction)


@op(
    "MseLossBackwardBackward0",
    grad_output="mse_loss_backward(grad, self, target, reduction).sum_to_size(grad_output.sym_sizes())",
    self="mse_loss_double_backward(grad * grad_output, self, reduction)",
    target="-mse_loss_double_backward(grad * grad_output, target, reduction)",
)
def mse_loss_backward(grad_output, self, target, reduction):
    scale = self.dtype.type(2.0 / self.size if reduction == 1 and self.size else 2.0)
    return scale * (self - target) * grad_output


@op(
    "SmoothL1LossBackward0",
    self="smooth_l1_loss_backward(grad, self, target, reduction, beta)",
    target="smooth_l1_loss_backward(grad, target, self, reduction, beta)",
    **PAIR,
)
def smooth_l1_loss(self, target, reduction=1, beta=1.0):
    size = np.abs(self - target)
    return reduced(np.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta).astype(self.dtype), reduction)


@op(
    "SmoothL1LossBackwardBackward0",
    grad_output="smooth_l1_loss_backward(grad, self, target, reduction, beta)",
    self="smooth_l1_loss_double_backward(grad * grad_output, self, target, reduction, beta)",
    target="-smooth_l1_loss_double_backward(grad * grad_output, self, target, reduction, beta)",
)
def smooth_l1_loss_backward(grad_output, self, target, reduction, beta):
    error, each = self - target, share(grad_output, self, reduction)
    slope = np.where(np.abs(error) < beta, error / (beta or 1), np.sign(error)).astype(self.dtype)
    return slope * each


@op(
    "HuberLossBackward0",
    self="huber_loss_backward(grad, self, target, reduction, delta)",
    target="huber_loss_backward(grad, target, self, reduction, delta)",
    **PAIR,
)
def huber_loss(self, target, reduction=1, delta=1.0):
    size = np.abs(self - target)
    return reduced(np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)).astype(self.dtype), reduction)


@op(
    "HuberLossBackwardBackward0",
    grad_output="huber_loss_double_backward_grad_output(grad, grad_output, self, target, reduction, delta)",
    self="huber_loss_double_backward(grad * grad_output, self, target, reduction, delta)",
    target="-huber_loss_double_backward(grad * grad_output, self, target, reduction, delta)",
)
def huber_loss_backward(grad_output, self, target, reduction, delta):
    return np.clip(self - target, -delta, delta) * share(grad_output, self, reduction)


@op("SoftMarginLossBackward0", self="soft_margin_loss_backward(grad, self, target, reduction)")
def soft_margin_loss(self, target: Array, reduction=1):
    return reduced(single.log1p(single.exp(-target * self)), reduction)


@op(
    "SoftMarginLossBackwardBackward0",
    grad_output="soft_margin_loss_double_backward_grad_output(grad, grad_output, self, target, reduction)",
    self="soft_margin_loss_double_backward(grad * grad_output, self, target, reduction)",
)
def soft_margin_loss_backward(grad_output, self, target: Array, reduction):
    power = single.exp(-target * self)
    return -target * power / (power + 1) * share(grad_output, self, reduction)


def outside_unit(array):
    return ~((array >= 0) & (array <= 1))


@op(
    "BinaryCrossEntropyBackward0",
    self="binary_cross_entropy_backward(grad, self, target, weight, reduction)",
    target="binary_cross_entropy_target_backward(grad, self, target, weight, reduction)",
)
def binary_cross_entropy(self, target, weight: Maybe = None, reduction=1):
    outside = [(int(np.argmax(bad)), name) for bad, name in ((outside_unit(self), "input"), (outside_unit(target), "target")) if bad.any()]
    if outside:
        raise RuntimeError(f"all elements of {min(outside)[1]} should be between 0 and 1")
    losses = (target - 1) * np.maximum(single.log1p(-self), -100) - target * np.maximum(single.log(self), -100)
    return reduced(losses.astype(self.dtype, copy=False) if weight is None else losses * weight, reduction)


@op(
    "BinaryCrossEntropyBackwardBackward0",
    grad_output="binary_cross_entropy_double_backward_grad_output(grad, self, target, weight, reduction)",
    self="binary_cross_entropy_double_backward(grad_output, grad, self, target, weight, reduction)",
    target="binary_cross_entropy_double_backward_target(grad, grad_output, self, target, weight, reduction)",
)
def binary_cross_entropy_backward(grad_output, self, target, weight: Maybe = None, reduction=1):
    slope = (self - target) / np.maximum((1 - self) * self, self.dtype.type(1e-12))
    slope = slope * share(grad_output, self, reduction)
    return slope if weight is None else slope * weight


@op(
    "BinaryCrossEntropyWithLogitsBackward0",
    self="binary_cross_entropy_with_logits_backward(grad, self, target, weight, pos_weight, reduction)",
    target="binary_cross_entropy_with_logits_target_backward(grad, self, target, weight, pos_weight, reduction)",
)
def binary_cross_entropy_with_logits(self, target, weight: Maybe = None, pos_weight: Maybe = None, reduction=1):
    tail = np.minimum(self, self.dtype.type(0)) - single.log1p(single.exp(-np.abs(self)))  # log(sigmoid(self))
    if pos_weight is None:
        losses = (1 - target) * self - tail
    else:
        losses = (1 - target) * self - ((pos_weight - 1) * target + 1) * tail
    return reduced(losses.astype(self.dtype, copy=False) if weight is None else losses * weight, reduction)


def class_weights(target, weight, ignore_index, classes, dtype):
    """The targets with a valid class put in for what is ignored, the weight of each (None: all are one), and what is ignored (or None)."""
    if target.size and not 0 <= ignore_index < classes and np.maximum.reduce(target.view(f"u{target.itemsize}"), None) < classes:
        return target, weight if weight is None else weight[target], None  # seen as unsigned, a negative class is a large one
    ignored = target == ignore_index
    outside = target[((target < 0) | (target >= classes)) & ~ignored]
    if outside.size:
        raise IndexError(f"Target {outside.flat[0]} is out of bounds.")
    safe = np.where(ignored, 0, target)
    weights = np.ones(target.shape, dtype) if weight is None else weight[safe]
    return safe, np.where(ignored, dtype.type(0), weights), ignored


def counted(values, weights, ignored):
    """Every sample's value by its weight; zero for those that are ignored."""
    values = values if weights is None else weights * values
    return values if ignored is None else np.where(ignored, values.dtype.type(0), values)


def class_axis(scores):
    """Classes are the second dimension, or the only one."""
    return min(1, scores.ndim - 1)


NLL = dict(
    outputs="output, total_weight",
    differentiable="output",
    self="nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)",
)


@op("NllLossBackward0", **NLL)
def nll_loss_forward(self, target: Array, weight: Maybe = None, reduction=1, ignore_index=-100):
    return nll(self, target, weight, reduction, ignore_index)


@op("NllLoss2DBackward0", **NLL)
def nll_loss2d_forward(self, target: Array, weight: Maybe = None, reduction=1, ignore_index=-100):
    return nll(self, target, weight, reduction, ignore_index)


def places_of(classes, axis, scores):
    """The index of each sample's own class: every sample's place in its batch, and the class on `axis`."""
    if scores.ndim == 1:
        return (classes.reshape(()),)
    places = np.indices(classes.shape, sparse=True) if classes.ndim > 1 else (np.arange(len(classes)),)
    return (*places[:axis], classes, *places[axis:])


def nll(scores, target, weight, reduction, ignore_index):
    axis = class_axis(scores)
    if weight is not None and weight.dtype != scores.dtype:
        raise RuntimeError(f"expected scalar type {SCALARS[scores.dtype.name]} but found {SCALARS[weight.dtype.name]}")
    safe, weights, ignored = class_weights(target, weight, ignore_index, scores.shape[axis], scores.dtype)
    losses = counted(np.negative(scores[places_of(safe, axis, scores)]), weights, ignored)
    if reduction == 0:
        return losses, np.zeros((), scores.dtype)
    total = scores.dtype.type(safe.size) if weights is None else single.in_turn(weights.reshape(-1))
    summed = single.in_turn(losses.reshape(-1)) + scores.dtype.type(0)  # a sum begins with zero: it is never -0
    return (np.true_divide(summed, total) if reduction == 1 else summed), total


@op(
    "NllLossBackwardBackward0",
    grad_output="nll_of(grad, target, weight, reduction, ignore_index)",
    self="zeros_like(grad)",
)
def nll_loss_backward(grad_output, self, target: Array, weight: Maybe, reduction, ignore_index, total_weight: Array):
    axis = class_axis(self)
    safe, weights, ignored = class_weights(target, weight, ignore_index, self.shape[axis], self.dtype)
    each = np.negative(grad_output / total_weight if reduction == 1 else grad_output)
    result = np.zeros(self.shape, self.dtype)
    result[places_of(safe, axis, self)] = counted(each, weights, ignored)
    return result


@op("MultiMarginLossBackward0", self="multi_margin_backward(grad, self, target, p, margin, weight, reduction)")
def multi_margin_loss(self, target: Array, p=1, margin=1, weight: Maybe = None, reduction=1):
    rows, places = as_rows(self, target)
    excess = margin_excess(rows, places, margin) ** p
    excess = excess if weight is None else excess * weight[places][:, None]
    losses = np.add.reduce(excess, 1) / rows.dtype.type(rows.shape[1])
    return reduced(losses.astype(self.dtype, copy=False) if target.ndim else losses.reshape(()), reduction)


def as_rows(scores, target):
    rows, places = np.atleast_2d(scores), target.reshape(-1)
    if scores.ndim > 2 or not scores.size:
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(scores.shape)}")
    if places.size != len(rows):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{len(rows)}], but got {list(target.shape)}. Input has shape {list(scores.shape)}."
        )
    if places.min() < 0 or places.max() >= rows.shape[1]:
        raise RuntimeError("target out of range")
    return rows, places


def margin_excess(rows, places, margin):
    """max(0, margin - x[target] + x[i]), zero at the target itself."""
    own = np.take_along_axis(rows, places[:, None], 1)
    excess = np.maximum(margin - own + rows, 0).astype(rows.dtype)
    np.put_along_axis(excess, places[:, None], 0, 1)
    return excess


@op()
def multi_margin_loss_backward(grad_output: Array, self: Array, target: Array, p, margin, weight: Maybe, reduction):
    rows, places = as_rows(self, target)
    excess = margin_excess(rows, places, margin)
    slope = (excess > 0) * (1 if p == 1 else 2 * excess) / rows.shape[1]
    slope = slope if weight is None else slope * weight[places][:, None]
    np.put_along_axis(slope, places[:, None], -np.add.reduce(slope, 1)[:, None], 1)
    each = np.reshape(grad_output, (-1, 1)) / (rows.shape[0] if reduction == 1 else 1)
    return (slope * each).astype(self.dtype).reshape(self.shape)


@op(
    "MultilabelMarginLossBackward0",
    outputs="output, is_target",
    differentiable="output",
    self="multilabel_margin_backward(grad, self, target, reduction, is_target)",
)
def multilabel_margin_loss_forward(self, target: Array, reduction=1):
    rows, labels = label_rows(self, target)
    losses = [np.add.reduce(gaps(row, listed)[0], None) for row, listed in zip(rows, labels)]
    losses = np.array(losses, self.dtype) / self.dtype.type(rows.shape[1])
    marks = np.zeros(rows.shape, self.dtype)
    for mark, listed in zip(marks, labels):
        mark[listed] = 1
    return reduced(losses if target.ndim > 1 else losses.reshape(()), reduction), marks.reshape(target.shape)


def label_rows(scores, target):
    """The rows of scores, and the classes that each row of the target lists before its first -1."""
    rows, labels = np.atleast_2d(scores), np.atleast_2d(target)
    if scores.ndim > 2 or labels.shape != rows.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(scores.shape)}")
    return rows, [row[: np.argmax(row < 0)] if (row < 0).any() else row for row in labels]


def gaps(row, listed):
    """max(0, 1 - x[listed] + x[other]) for every pair, and the places of the others."""
    others = np.setdiff1d(np.arange(row.size), listed)
    return np.maximum(1 - row[listed][:, None] + row[others][None, :], 0).astype(row.dtype), others


@op()
def multilabel_margin_loss_backward(grad_output: Array, self: Array, target: Array, reduction, is_target: Array):
    rows, labels = label_rows(self, target)
    slope = np.zeros(rows.shape, self.dtype)
    for out, row, listed in zip(slope, rows, labels):
        excess, others = gaps(row, listed)
        np.add.at(out, listed, -np.add.reduce(excess > 0, 1).astype(self.dtype))
        out[others] += np.add.reduce(excess > 0, 0)
    each = np.reshape(grad_output, (-1, 1)) / (rows.shape[0] if reduction == 1 else 1) / rows.shape[1]
    return (slope * each).astype(self.dtype).reshape(self.shape)


publish(globals(), functions="binary_cross_entropy_with_logits")
