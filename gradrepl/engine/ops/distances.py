"""Distances between all pairs of rows: declarations, 2-5 lines each, with the ops that their derivatives are."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.ops.norms import norm_of
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish

inf = float("inf")


def differences(x1, x2):
    """(…, rows of x1, rows of x2, columns)."""
    return x1[..., :, None, :] - x2[..., None, :, :]


@op(
    "CdistBackward0",
    x1="cdist_backward(grad, x1, x2, p, result)",
    x2="cdist_backward(grad.mT, x2, x1, p, result.mT)",
)
def cdist_forward(x1, x2, p=2.0):
    return norm_of(differences(x1, x2), p, (-1,), False).astype(x1.dtype, copy=False)


@op("EuclideanDistBackward0", x1="euclidean_backward(grad, x1, x2, result)", x2="euclidean_backward(grad.mT, x2, x1, result.mT)")
def euclidean_dist(x1, x2):
    return norm_of(differences(x1, x2), 2, (-1,), False).astype(x1.dtype, copy=False)


def pull(grad, diff, distance, p):
    """The gradient of |x|_p for every coordinate; zero where the distance is."""
    grad, distance = grad[..., None], distance[..., None]
    if p == 0:
        return np.zeros_like(diff)
    if p == 1:
        return grad * np.sign(diff)
    if p == inf:
        return grad * np.sign(diff) * (np.abs(diff) == distance)
    with np.errstate(all="ignore"):
        if p < 2:
            bent = np.sign(diff) * np.where(diff == 0, 0 if p < 1 else np.abs(diff) ** (p - 1), np.abs(diff) ** (p - 1))
            return np.where(distance == 0, 0, grad * bent / distance ** (p - 1))
        return np.where(distance == 0, 0, grad * diff * np.abs(diff) ** (p - 2) / distance ** (p - 1))


@op(
    "CdistBackwardBackward0",
    grad="not_implemented('_cdist_backward')",
    x1="not_implemented('_cdist_backward')",
    x2="not_implemented('_cdist_backward')",
    cdist="not_implemented('_cdist_backward')",
)
def cdist_backward(grad, x1, x2, p, cdist):
    return np.add.reduce(pull(grad, differences(x1, x2), cdist, p), -2).astype(x1.dtype, copy=False)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    check_cdist(x1, x2, p)
    many = x1.array.shape[-2] > 25 or x2.array.shape[-2] > 25
    modes = {"use_mm_for_euclid_dist_if_necessary": many, "use_mm_for_euclid_dist": True, "donot_use_mm_for_euclid_dist": False}
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if p == 2 and modes[compute_mode] and x1.array.size and x2.array.size:
        lead = np.broadcast_shapes(x1.array.shape[:-2], x2.array.shape[:-2])
        rows = [x.expand(*lead, *x.array.shape[-2:]).contiguous().view(-1, *x.array.shape[-2:]) if lead else x for x in (x1, x2)]
        return euclidean_dist(*rows).view(*lead, x1.array.shape[-2], x2.array.shape[-2])
    return cdist_forward(x1, x2, float(p))


def check_cdist(x1, x2, p):
    for name, x in (("X1", x1), ("X2", x2)):
        if x.array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.array.ndim}D")
        if x.array.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {SCALARS[x.array.dtype.name]}")
    if x1.array.shape[-1] != x2.array.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.array.shape[-1]} X2: {x2.array.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")


@op("PdistBackward0", self="_pdist_backward(grad, self, p, result)")
def _pdist_forward(self, p=2.0):
    first, second = np.triu_indices(self.shape[0], 1)
    return norm_of(self[first] - self[second], p, (-1,), False).astype(self.dtype, copy=False)


@op(
    "PdistBackwardBackward0",
    grad="not_implemented('_pdist_backward')",
    self="not_implemented('_pdist_backward')",
    pdist="not_implemented('_pdist_backward')",
)
def _pdist_backward(grad, self, p, pdist):
    first, second = np.triu_indices(self.shape[0], 1)
    pulled = pull(grad, self[first] - self[second], pdist, p)
    result = np.zeros_like(self)
    np.add.at(result, first, pulled)
    np.subtract.at(result, second, pulled)
    return result


def pdist(input, p=2):
    if input.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.array.ndim}D")
    if input.array.dtype.kind != "f":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return _pdist_forward(input.contiguous(), float(p))


publish(globals(), functions="cdist pdist")
