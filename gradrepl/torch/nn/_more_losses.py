"""torch.nn.functional's losses that look at layers or sequences; functional.py shows them."""

__name__ = "torch.nn.functional"

import math

import gradrepl.engine.nn
from gradrepl import torch
from gradrepl.engine.dtypes import DTYPES
from gradrepl.engine.function import Function
from gradrepl.engine.ops import nn_ctc
from gradrepl.engine.ops.distances import pdist
from gradrepl.engine.ops.nn_linear import linear
from gradrepl.torch.nn._losses import cross_entropy, reduction_number


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    lengths = input_lengths, target_lengths
    return nn_ctc.ctc_loss(log_probs, targets, *lengths, blank, reduction_number(reduction), zero_infinity)


class Chunked(Function):
    """A loss that keeps no scores: its backward computes them again."""

    @staticmethod
    def forward(ctx, loss, *tensors):
        ctx.loss = loss
        ctx.save_for_backward(*tensors)
        return loss(*tensors)

    @staticmethod
    def backward(ctx, grad):
        needed = ctx.needs_input_grad[1:]
        with torch.enable_grad():
            again = [x.detach().requires_grad_() if need else x for x, need in zip(ctx.saved_tensors, needed)]
            found = iter(torch.autograd.grad(ctx.loss(*again), [x for x, need in zip(again, needed) if need], grad))
        return None, *[next(found) if need else None for need in needed]


def chunked(middle):
    """The same under the name that PyTorch generates for its node."""
    return type(f"GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked{middle}_default", (Chunked,), {})


CHUNKED = dict.fromkeys(("mean", "sum"), chunked("")) | {"none": chunked("_no_reduction")}


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """The cross entropy of a linear layer's output; PyTorch computes it in chunks where `options` ask for that, to the same numbers."""
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    classes, *out_features, in_features = linear_weight.shape
    if linear_bias is not None and tuple(linear_bias.shape) != (classes, *out_features):
        raise RuntimeError(f"expected linear_bias shape {(classes, *out_features)}, got {tuple(linear_bias.shape)}")
    if out_features and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, (N, {in_features}), "
            f"got unbatched input with shape {tuple(input.shape)}"
        )
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index

    def loss(input, linear_weight, target, linear_bias=None, weight=None):
        rows = classes * math.prod(out_features)
        scores = linear(input, linear_weight.reshape(rows, in_features), None if linear_bias is None else linear_bias.reshape(rows))
        scores = scores.reshape(*input.shape[:-1], classes, *out_features) if out_features else scores
        return cross_entropy(scores, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing)

    integral = target.dtype is DTYPES["int64"]
    if options is None or out_features or reduction not in CHUNKED or label_smoothing or not integral:
        return loss(input, linear_weight, target, linear_bias, weight)
    run = CHUNKED[reduction].apply
    if input.dim() == 2:
        return run(loss, input, linear_weight, target, linear_bias, weight)
    return run(loss, input.unsqueeze(0), linear_weight, target.unsqueeze(0), linear_bias, weight).squeeze(0)
