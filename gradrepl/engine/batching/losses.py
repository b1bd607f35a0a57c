"""How losses are batched: element by element, then reduced over each example; some by PyTorch's decomposition. Imports rules."""

import numpy as np

from gradrepl.engine.batching.rules import pointwise, rule
from gradrepl.engine.names import NAMES
from gradrepl.engine.tensor import tensor_of

NONE, MEAN, SUM = range(3)


def reduced(loss, reduction):
    return loss if reduction == NONE else loss.mean() if reduction == MEAN else loss.sum()


@rule("mse_loss smooth_l1_loss huber_loss")
def of_pairs(call, self, target, reduction, *args):
    """The examples as rows."""
    shape = np.broadcast_shapes(self.array.shape, target.array.shape)
    if self.array.shape != target.array.shape:
        return reduced(pointwise(call, self, target, NONE, *args), reduction)
    loss = call.function(row(call, self), row(call, target), NONE, *args)
    if reduction == NONE:
        return call.wrap(NAMES["view_sizes"](loss, (call.size, *shape)))
    if loss.array.ndim == 1:
        return call.wrap(loss)
    return call.wrap(NAMES["mean_dim" if reduction == MEAN else "sum_dim"](loss, (-1,)))


def row(call, x):
    value = call.front(x)
    if x.array.ndim < 2:
        return value
    return value.reshape(call.size, -1) if call.holds(x) else value.reshape(-1)


@rule("mse_loss_backward smooth_l1_loss_backward huber_loss_backward binary_cross_entropy_backward soft_margin_loss_backward")
def backward_of_pairs(call, grad_output, *args):
    """The gradient counts for every element as in a sum; a mean's is divided among them before."""
    place = REDUCTION_AT[call.name]
    args = list(args)
    if args[place] == MEAN:
        shape = np.broadcast_shapes(args[0].array.shape, args[1].array.shape)
        grad_output = grad_output / max(int(np.prod(shape)), 1)
    args[place] = SUM if args[place] else NONE
    return pointwise(call, grad_output, *args)


REDUCTION_AT = dict(
    mse_loss_backward=2, smooth_l1_loss_backward=2, huber_loss_backward=2, soft_margin_loss_backward=2, binary_cross_entropy_backward=3
)


@rule("binary_cross_entropy")
def binary_cross_entropy(call, self, target, weight, reduction):
    loss = call.wrap(call.function(call.full(self), call.full(target), None, NONE))
    return reduced(loss if weight is None else loss * weight, reduction)


@rule("binary_cross_entropy_with_logits")
def with_logits(call, self, target, weight, pos_weight, reduction):
    """(1 - t) x + w (log(1 + exp(-|x|)) + max(-x, 0)), of numbers that cannot overflow."""
    sub, add, mul = NAMES["sub"], NAMES["add"], NAMES["mul"]
    opposite = -self
    high = opposite.clamp_min(0)
    soft = ((-high).exp() + (opposite - high).exp()).log()
    first = mul(sub(tensor_of(np.ones((), self.array.dtype)), target), self)
    if pos_weight is None:
        loss = add(add(first, high), soft)
    else:
        loss = add(first, mul(mul(sub(pos_weight, ones_like(pos_weight)), target) + 1, add(soft, high)))
    return reduced(loss if weight is None else mul(loss, weight), reduction)


def ones_like(x):
    return tensor_of(np.ones((), x.array.dtype))


@rule("nll_loss_forward nll_loss2d_forward")
def nll(call, self, target, weight, reduction, ignore_index):
    """The log probabilities picked by `gather`."""
    dim = 1 if self.array.ndim > 1 else 0
    rest = (1,) * max(self.array.ndim - 2, 0)
    weights = None if weight is None else weight.view((1, -1, *rest)) if dim else weight
    picked = self if weights is None else self * weights
    known, zero = target != ignore_index, tensor_of(np.zeros((), np.int64))
    places = NAMES["where_tensors"](known, target, zero).unsqueeze(dim)
    nothing = tensor_of(np.zeros((), self.array.dtype))
    loss = NAMES["where_tensors"](known, -picked.gather(dim, places).squeeze((dim,)), nothing)
    if reduction == NONE:
        return loss, nothing
    if weights is None:
        total = known.sum().to(self.dtype)
    else:
        total = NAMES["where_tensors"](known, weights.expand(self.shape).gather(dim, places).squeeze(dim), nothing).sum()
    return (loss.sum() / total if reduction == MEAN else loss.sum()), total
