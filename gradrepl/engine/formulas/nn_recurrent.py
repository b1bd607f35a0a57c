"""The derivative of a layer of LSTM: on arrays in one go, step by step on tensors where it is to be differentiated again."""

from functools import reduce

import numpy as np

from gradrepl.engine import lstm
from gradrepl.engine.declare import formula
from gradrepl.engine.gradients import array_of, arrays
from gradrepl.engine.modes import here
from gradrepl.engine.ops.joining import cat
from gradrepl.engine.ops.nn_linear import linear
from gradrepl.engine.ops.nn_recurrent import gates_of
from gradrepl.engine.ops.pointwise import add, subtracted_from
from gradrepl.engine.tensor import tensor_of


@formula
def lstm_layer_backward(grads, mask, input, w_ih, w_hh, b_ih, b_hh, hx, cx, output, h, c, space, reverse, *options):
    if here.records:
        return wanted(mask, differentiable(grads, input, w_ih, w_hh, b_ih, b_hh, hx, cx, reverse))
    operands = [array_of(x) for x in (input, w_ih, w_hh, b_ih, b_hh, hx, cx, output, h, c, space)]
    found = lstm_layer_backward_arrays([None if g is None else g.array for g in grads], mask, *operands, reverse, *options)
    return [None if x is None else tensor_of(x) for x in found]


@arrays(lstm_layer_backward)
def lstm_layer_backward_arrays(grads, mask, input, w_ih, w_hh, b_ih, b_hh, hx, cx, output, h, c, space, reverse, *options):
    of_x, of_w_ih, of_w_hh, of_bias, of_hx, of_cx = lstm.gradients(grads[:3], input, w_ih, w_hh, space.view(input.dtype), reverse, mask[0])
    return wanted(mask, (of_x, of_w_ih, of_w_hh, of_bias, of_bias.copy(), of_hx, of_cx))


def wanted(mask, values):
    return [value if asked else None for value, asked in zip(values, mask)]


def differentiable(grads, input, w_ih, w_hh, b_ih, b_hh, h, c, reverse):
    """The same of tensors: every step is run once more, then its gradients."""
    of_output, dh, dc = grads[:3]
    steps, order = [], range(input.shape[0])[:: -1 if reverse else 1]
    for t in order:
        i, f, g, o = gates_of(linear(input[t], w_ih, b_ih) + linear(h, w_hh, b_hh), 4)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        after = f * c + i * g
        steps.append((input[t], h, c, i, f, g, o, after.tanh()))
        h, c = o * steps[-1][-1], after
    of_inputs, sums = [], []
    dh, dc = (tensor_of(np.zeros_like(x.array)) if g is None else g for g, x in ((dh, h), (dc, c)))
    for t, (x, h, c, i, f, g, o, bent) in zip(reversed(order), reversed(steps)):
        dh = dh if of_output is None else dh + of_output[t]
        dc = dc + dh * o * subtracted_from(bent * bent, 1)
        slopes = [before_sigmoid(dc * g, i), before_sigmoid(dc * c, f), dc * i * subtracted_from(g * g, 1), before_sigmoid(dh * bent, o)]
        rows = cat(slopes, 1)
        of_inputs.append((rows @ w_ih).unsqueeze(0))
        sums.append((rows.transpose(0, 1) @ x, rows.transpose(0, 1) @ h, rows.sum(0)))
        dh, dc = rows @ w_hh, dc * f
    of_weights = [reduce(add, parts) for parts in zip(*sums)]
    return cat(of_inputs if reverse else of_inputs[::-1]), *of_weights, of_weights[-1], dh, dc


def before_sigmoid(grad, opened):
    return grad * opened * subtracted_from(opened, 1)
