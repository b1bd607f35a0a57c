"""Derivatives of repeating, turning and masking by place. Everything here runs on tensors, so that it can be differentiated."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.indexing import new_zeros
from gradrepl.engine.tensor import tensor_of


@formula
def repeat_backward(grad, repeats, sizes):
    """The sum over all the copies."""
    if 0 in repeats:
        return new_zeros(grad, sizes)
    new = len(repeats) - len(sizes)
    split, summed = [], list(range(new))
    for i, count in enumerate(repeats):
        if i < new:
            split.append(count)
        elif count == 1:
            split.append(sizes[i - new])
        else:
            summed.append(len(split))
            split += [count, sizes[i - new]]
    grad = grad.reshape(split) if len(split) > len(repeats) or new else grad
    return grad.sum(tuple(summed)) if summed else grad


@formula
def trace_backward(grad, sizes):
    rows, columns = sizes
    places = tensor_of(np.arange(0, rows * columns, columns + 1)[: min(sizes)])
    return new_zeros(grad, (rows * columns,)).index_fill_(0, places, grad).view(sizes)
