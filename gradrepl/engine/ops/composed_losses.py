"""Losses and distances that PyTorch composes of other operations: graph and numbers are those of the operations named here."""

import math

import numpy as np

from gradrepl.engine.modes import here, no_grad
from gradrepl.engine.ops.activations import log_softmax_dim
from gradrepl.engine.ops.comparison import choose, masked_fill
from gradrepl.engine.ops.extremes import clamp_min_
from gradrepl.engine.ops.losses import nll_loss2d_forward, nll_loss_forward
from gradrepl.engine.ops.norms import norm_dims, vector_norm
from gradrepl.engine.ops.pointwise import add_scalar, div_scalar, mul_scalar, sub_scalar, subtracted_from
from gradrepl.engine.ops.shapes import broadcast_tensors
from gradrepl.engine.ops.special import xlogy
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of


def reduce_loss(loss, reduction):
    """0: as it is, 1: its mean, 2: its sum."""
    return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss


def zero_of(tensor):
    return tensor_of(np.zeros_like(tensor.array))


def l1_loss(self, target, reduction=1):
    return reduce_loss((self - target).abs(), reduction)


def kl_div(self, target, reduction=1, *, log_target=False):
    if log_target:
        return reduce_loss(target.exp() * (target - self), reduction)
    together = target * self
    return reduce_loss(xlogy(target, target) - together, reduction)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    together = target * (input if log_input else add_scalar(input, eps).log())
    loss = (input.exp() if log_input else input) - together
    if full:
        stirling = target * target.log() - target + mul_scalar(mul_scalar(target, 2 * math.pi).log(), 0.5)
        loss = loss + masked_fill(stirling, target <= 1, 0)
    return reduce_loss(loss, reduction)


def hinge_embedding_loss(self, target, margin=1.0, reduction=1):
    zero = zero_of(self)
    far = clamp_min_(subtracted_from(self, margin), 0) if not self.requires_grad else subtracted_from(self, margin).clamp_min(0)
    return reduce_loss(choose(target != 1, far, zero) + choose(target != -1, self, zero), reduction)


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    loss = add_scalar(-target * (input1 - input2), margin).clamp_min(0)
    return reduce_loss(loss, reduction)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    if target.array.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    wanted = {1: (2,), 0: (1,)}[target.array.ndim]
    if input1.array.ndim not in wanted or input2.array.ndim not in wanted:
        shape = "2D" if target.array.ndim else "1D"
        raise RuntimeError(
            f"{target.array.ndim}D target tensor expects {shape} input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    dim = target.array.ndim
    together = (input1 * input2).sum(dim)
    first, second = (add_scalar((x * x).sum(dim), 1e-12) for x in (input1, input2))
    cosine = together / (first * second).sqrt()
    zero = zero_of(cosine)
    near = choose(target == 1, subtracted_from(cosine, 1), zero)
    far = choose(target == -1, sub_scalar(cosine, margin).clamp_min(0), zero)
    return reduce_loss(near + far, reduction)


def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False):
    return norm_dims(add_scalar(x1 - x2, eps), p, (max(x1.array.ndim, x2.array.ndim) - 1,), keepdim)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=1):
    dims = [x.array.ndim for x in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
            "{}D, positive {}D, and negative {}D inputs".format(*dims)
        )
    to_positive, to_negative = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        to_negative = to_negative.minimum(pairwise_distance(positive, negative, p, eps))
    return reduce_loss((add_scalar(to_positive, margin) - to_negative).clamp_min(0), reduction)


def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    if x1.array.shape != x2.array.shape:
        x1, x2 = broadcast_tensors(x1, x2)
    sizes = [vector_norm(x, 2, dim, True).clone() for x in (x1, x2)]
    with no_grad():
        for size in sizes:
            clamp_min_(size, eps)
    return ((x1 / sizes[0]) * (x2 / sizes[1])).sum(dim)


# ---- cross entropy


def nll_loss(self, target, weight=None, reduction=1, ignore_index=-100):
    """Of any number of dimensions: what is neither a table nor an image is looked at as an image."""
    check_batch(self, target)
    if self.array.ndim <= 2:
        check_classes(self, target, weight)
        return nll_loss_forward(self, target, weight, reduction, ignore_index)[0]
    if self.array.ndim == 4:
        check_image(self, target)
        return nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]
    if target.shape[1:] != self.shape[2:]:
        size = [self.shape[0], *self.shape[2:]]
        raise RuntimeError(f"Expected target size {size}, got {list(target.shape)}")
    image = self.contiguous().view(self.shape[0], self.shape[1], 1, -1)
    loss = nll_loss2d_forward(image, target.contiguous().view(target.shape[0], 1, -1), weight, reduction, ignore_index)[0]
    return loss.view(target.shape) if reduction == 0 else loss


def check_batch(self, target):
    if self.array.ndim == 0:
        raise RuntimeError("Expected 1 or more dimensions (got 0)")
    if self.array.ndim != 1 and (not target.array.ndim or self.array.shape[0] != target.array.shape[0]):
        raise ValueError(
            f"Expected input batch_size ({self.shape[0]}) to match target batch_size ({target.shape[0] if target.array.ndim else 1})."
        )


def check_classes(self, target, weight):
    if target.array.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if self.array.ndim == 1 and target.array.ndim == 1 and target.array.shape != self.array.shape:
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    if weight is not None and weight.array.shape != self.array.shape[-1:]:
        raise RuntimeError(
            f"weight tensor should be defined either for all {self.shape[-1]} classes "
            f"or no classes but got weight tensor of shape: {list(weight.shape)}"
        )
    if target.array.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {SCALARS[target.array.dtype.name]}")


def check_image(self, target):
    if target.array.ndim != 3:
        raise RuntimeError(f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.array.ndim}")
    if self.array.shape[0] != target.array.shape[0] or self.shape[2:] != target.shape[1:]:
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)} , target: {list(target.shape)}")


def cross_entropy_loss(self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if self.array.shape == target.array.shape:
        return probable_cross_entropy(self, target, weight, reduction, label_smoothing)
    axis = 0 if self.array.ndim == 1 else 1
    scores = log_softmax_dim(self, axis)
    loss = nll_loss(scores, target, weight, reduction, ignore_index)
    return smoothed(scores, loss, target, weight, reduction, ignore_index, label_smoothing, axis) if label_smoothing > 0.0 else loss


def smoothed(scores, loss, target, weight, reduction, ignore_index, label_smoothing, axis):
    """A part `label_smoothing` of the target is spread over all classes."""
    check_smoothing(label_smoothing)
    ignored = target == ignore_index
    if weight is None:
        spread = -scores.sum(axis)
    else:
        spread = -(scores * weight.view((1,) * axis + (-1,) + (1,) * (scores.array.ndim - axis - 1))).sum(axis)
    spread = spread.masked_fill(ignored, 0.0) if here.mapping else spread.masked_fill_(ignored, 0.0)
    if reduction == 1 and weight is not None:
        spread = spread.sum() / weight.gather(0, target.masked_select(~ignored).flatten()).sum()
    elif reduction == 1:
        spread = spread.sum() / (~ignored).sum()
    elif reduction == 2:
        spread = spread.sum()
    return mul_scalar(loss, 1 - label_smoothing) + mul_scalar(spread, label_smoothing / scores.shape[axis])


def check_smoothing(label_smoothing):
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def probable_cross_entropy(self, target, weight, reduction, label_smoothing):
    """Targets that are probabilities of classes."""
    if target.array.dtype.kind != "f":
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {SCALARS[target.array.dtype.name]}")
    check_smoothing(label_smoothing)
    axis = 0 if self.array.ndim == 1 else 1
    classes, scores = self.shape[axis], log_softmax_dim(self, axis)
    if label_smoothing > 0.0:
        target = add_scalar(mul_scalar(target, 1 - label_smoothing), label_smoothing / classes)
    weighted = scores * target
    if weight is not None:
        weighted = weighted * weight.view((1,) * axis + (-1,) + (1,) * (self.array.ndim - axis - 1))
    if reduction == 0:
        return -weighted.sum(axis)
    return -weighted.sum() if reduction == 2 else div_scalar(-weighted.sum(), self.array.size // classes)


publish(
    globals(),
    functions="""kl_div poisson_nll_loss hinge_embedding_loss margin_ranking_loss cosine_embedding_loss pairwise_distance
        triplet_margin_loss cosine_similarity""",
)
