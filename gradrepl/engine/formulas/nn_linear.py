"""Derivatives of linear and bilinear maps."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.gradients import arrays
from gradrepl.engine.ops.nn_linear import _trilinear
from gradrepl.engine.ops.shapes import t


@arrays(t)
def turned(array):
    """The transpose; of a matrix that is itself the transpose of one, that one: a weight can take it for its gradient without a copy."""
    back, owner = array.T, array.base
    whole = type(owner) is np.ndarray and owner.base is None and owner.shape == back.shape and owner.strides == back.strides
    return owner if whole else back


@formula
def trilinear_backward(grad, i1, i2, i3, expand1, expand2, expand3, sumdim, mask):
    """Each factor's gradient is the product of the others and `grad`, summed over the dimensions that factor lacks."""
    factors = (i1, tuple(expand1)), (i2, tuple(expand2)), (i3, tuple(expand3))
    answers = []
    for place, wanted in enumerate(mask):
        others = [factor for i, factor in enumerate(factors) if i != place]
        lacking = factors[place][1]
        answer = None
        if wanted:
            (a, spread_a), (b, spread_b) = others
            answer = _trilinear(grad, a, b, tuple(sumdim), spread_a, spread_b, lacking)
        answers.append(answer)
    return answers
