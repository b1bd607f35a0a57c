"""torch.nn.functional's losses and distances, on the engine's ops; functional.py shows them."""

__name__ = "torch.nn.functional"

import math

from gradrepl.engine.advice import warn
from gradrepl.engine.modes import no_grad
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops import composed_losses, losses
from gradrepl.engine.ops.activations import logsigmoid
from gradrepl.engine.ops.composed_losses import cosine_similarity, pairwise_distance
from gradrepl.engine.ops.shapes import broadcast_tensors
from gradrepl.engine.out import into
from gradrepl.engine.tensor import Tensor

REDUCTIONS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def reduction_number(reduction, size_average=None, reduce=None):
    """What the ops call a reduction; `size_average` and `reduce` are its old spelling."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def legacy_reduction(size_average, reduce):
    """The name of a reduction in its old spelling."""
    reduction = ("mean" if size_average is not False else "sum") if reduce is not False else "none"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction


def matched(input, target):
    """Both in one shape; different ones are most likely a mistake."""
    if target.array.shape == input.array.shape:
        return input, target
    if target.size() != input.size():
        warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely lead to "
            "incorrect results due to broadcasting. Please ensure they have the same size.",
        )
    return broadcast_tensors(input, target)


def weighted(loss, weight, input, reduction):
    """A loss with a weight for each element; its mean is over the weights."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.sum() / weight.sum()


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    first, second = matched(input, target)
    if weight is not None:
        return weighted((first - second).pow(2), weight, input, reduction)
    return losses.mse_loss(first, second, reduction_number(reduction, size_average, reduce))


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    first, second = matched(input, target)
    if weight is not None:
        return weighted((first - second).abs(), weight, input, reduction)
    return composed_losses.l1_loss(first, second, reduction_number(reduction, size_average, reduce))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    first, second = matched(input, target)
    number = reduction_number(reduction, size_average, reduce)
    if beta == 0.0:
        return composed_losses.l1_loss(first, second, number)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return losses.smooth_l1_loss(first, second, number, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    first, second = matched(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return losses.huber_loss(first, second, reduction_number(reduction), delta)
    loss = weighted(losses.huber_loss(first, second, 0, delta), weight, input, "none")
    return composed_losses.reduce_loss(loss, reduction_number(reduction))


def refuse_gradients(name, target):
    if target.requires_grad:
        raise RuntimeError(
            f"The function '{name}' is not differentiable with respect to argument 'target'. This input cannot have requires_grad True."
        )


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    refuse_gradients("soft_margin_loss", target)
    return losses.soft_margin_loss(input, target, reduction_number(reduction, size_average, reduce))


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    number = reduction_number(reduction, size_average, reduce)
    return composed_losses.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return composed_losses.nll_loss(input, target, weight, reduction_number(reduction, size_average, reduce), ignore_index)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    number = reduction_number(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(NAMES["np"].broadcast_shapes(target.shape, weight.shape))
    return losses.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    number = reduction_number(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return losses.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
        )
    batch = reduction == "batchmean"
    number = 2 if batch else reduction_number(reduction, size_average, reduce)
    loss = composed_losses.kl_div(input, target, number, log_target=log_target)
    return loss / input.size()[0] if batch and input.dim() != 0 else loss


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    number = reduction_number(reduction, size_average, reduce)
    return composed_losses.poisson_nll_loss(input, target, log_input, full, eps, number)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * input.new_ones(input.shape)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    var = spread_out(var, input)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return composed_losses.reduce_loss(loss, REDUCTIONS[reduction])


def spread_out(var, input):
    """One variance for each element, or one for each line of the last dimension."""
    if var.size() == input.size():
        return var
    if input.size()[:-1] == var.size():
        return var.unsqueeze(-1)
    if input.ndim == var.ndim and sum(b for a, b in zip(input.size(), var.size()) if a != b) == 1:
        return var
    raise ValueError("var is of incorrect size")


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return composed_losses.hinge_embedding_loss(input, target, margin, reduction_number(reduction, size_average, reduce))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    number = reduction_number(reduction, size_average, reduce)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return composed_losses.margin_ranking_loss(input1, input2, target, margin, number)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    number = reduction_number(reduction, size_average, reduce)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return losses.multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return losses.multilabel_margin_loss_forward(input, target, reduction_number(reduction, size_average, reduce))[0]


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    number = reduction_number(reduction, size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    last = input.dim() - 1
    return composed_losses.reduce_loss(loss.sum(dim=last) / input.size(last), number)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    number = reduction_number(reduction, size_average, reduce)
    return composed_losses.cosine_embedding_loss(input1, input2, target, margin, number)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    number = reduction_number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return composed_losses.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = anchor.ndim, positive.ndim, negative.ndim
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
            "{}D, positive {}D, and negative {}D inputs".format(*dims)
        )
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return composed_losses.reduce_loss((margin + near - far).clamp_min(0), REDUCTIONS[reduction])


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    size = input.norm(p, dim, keepdim=True)
    size = (size.clamp_min(eps) if out is None else size.clamp_min_(eps)).expand_as(input)
    return input / size if out is None else into(out, input / size, "div")
