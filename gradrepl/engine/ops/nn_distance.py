"""Distances between the rows of one matrix."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.public import publish


def pairs(x):
    """(first rows, second rows) of all pairs."""
    return np.triu_indices(len(x), 1)


def length(difference, p):
    if p == 0:
        return (difference != 0).sum(1).astype(difference.dtype)
    return np.linalg.norm(difference, p, axis=1) if difference.shape[1] else np.zeros(len(difference), difference.dtype)


@op("PdistBackward0", self="_pdist_backward(grad, self, p, result)")
def _pdist_forward(self, p=2):
    first, second = pairs(self)
    return length(self[first] - self[second], p).astype(self.dtype)


def pdist_back(grad, x, p, distances):
    """Each distance pulls its two rows apart."""
    first, second = pairs(x)
    difference, out = x[first] - x[second], np.zeros_like(x)
    size, whole = np.abs(difference), distances[:, None]
    if p == 0:
        return out
    with np.errstate(all="ignore"):
        if p == np.inf:
            slope = np.sign(difference) * (size == whole)
        else:
            slope = np.sign(difference) * (size / whole) ** (p - 1)
    slope = np.where(whole == 0, 0, slope) * grad[:, None]
    np.add.at(out, first, slope)
    np.subtract.at(out, second, slope)
    return out.astype(x.dtype)


@op(
    "PdistBackwardBackward0",
    grad="not_implemented('_pdist_backward')",
    self="not_implemented('_pdist_backward')",
    pdist="not_implemented('_pdist_backward')",
)
def _pdist_backward(grad, self, p, pdist):
    return pdist_back(grad, self, p, pdist)


def pdist(input, p=2):
    if input.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.array.ndim}D")
    if input.array.dtype.kind != "f":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return _pdist_forward(input, p)


publish(globals(), functions="pdist")
