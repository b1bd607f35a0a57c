"""A layer of LSTM over a sequence, there and back, on arrays. Imports NumPy only.

Features come first and the batch last, so that each gate is a stretch of memory; input, hidden state and a row of ones for the bias stand
in one array, so that a step takes one product. The gates stand in the order o, i, f, g: those with a sigmoid first, those of the cell last.
"""

import math

import numpy as np


class Layout:
    """Where everything a pass leaves for the way back stands in one stretch of memory."""

    def __init__(self, steps, batch, features, hidden):
        self.features = features
        self.shapes = dict(
            gates=(steps, 4 * hidden, batch),
            inputs=(steps + 1, features + hidden + 1, batch),
            cells=(steps + 1, hidden, batch),
            bent=(steps, hidden, batch),  # the tanh of the cells
        )

    def space(self, dtype):
        return np.empty(sum(map(math.prod, self.shapes.values())), dtype)

    def parts(self, space):
        start = 0
        for shape in self.shapes.values():
            stop = start + math.prod(shape)
            yield space[start:stop].reshape(shape)
            start = stop


def rolled(rows):
    """Rows of gates in the order i, f, g, o as o, i, f, g."""
    last = len(rows) // 4
    return np.concatenate((rows[-last:], rows[:-last]))


def unrolled(rows):
    last = len(rows) // 4
    return np.concatenate((rows[last:], rows[:last]))


def run(x, w_ih, w_hh, bias, h0, c0, reverse):
    """(the hidden state of every step, the last cell, what `gradients` needs)"""
    (steps, batch, features), hidden = x.shape, w_hh.shape[1]
    layout = Layout(steps, batch, features, hidden)
    space = layout.space(x.dtype)
    gates, inputs, cells, bent = layout.parts(space)
    weights = rolled(np.concatenate((w_ih, w_hh, bias[:, None]), 1))
    opened = 3 * hidden
    np.negative(weights[:opened], weights[:opened])  # a sigmoid is 1 / (1 + exp(-x))
    inputs[:steps, :features] = (x[::-1] if reverse else x).transpose(0, 2, 1)
    inputs[0, features:-1], cells[0] = h0.T, c0.T
    inputs[:, -1] = 1
    states, one = inputs[1:, features:-1], np.ones((), x.dtype)
    each = gates, gates[:, :opened], *by_gate(gates, hidden), inputs, cells, cells[1:], states, bent
    for z, sigmoids, out, take, keep, new, full, before, after, state, curve in zip(*each):
        np.dot(weights, full, z)
        np.exp(sigmoids, sigmoids)
        np.add(sigmoids, one, sigmoids)
        np.reciprocal(sigmoids, sigmoids)
        np.tanh(new, new)
        np.multiply(keep, before, after)
        np.add(after, take * new, after)
        np.multiply(out, np.tanh(after, curve), state)
    order = states[::-1] if reverse else states
    return np.ascontiguousarray(order.transpose(0, 2, 1)), np.ascontiguousarray(cells[-1].T), space


def gradients(grads, x, w_ih, w_hh, space, reverse, wants_input):
    """The gradients of (x, w_ih, w_hh, bias, h0, c0), given those of the outputs, the last hidden state and the last cell (or None)."""
    of_output, of_h, of_c = grads
    (steps, batch, features), hidden = x.shape, w_hh.shape[1]
    gates, inputs, cells, bent = Layout(steps, batch, features, hidden).parts(space)
    of_gates, through = local_slopes(gates, cells, bent, hidden)
    back, of_cell = np.ascontiguousarray(rolled(w_hh).T), of_gates.reshape(steps, 4, hidden, batch)[:, 1:]
    dh, dc = (np.zeros((hidden, batch), x.dtype) if g is None else np.array(g.T, order="C") for g in (of_h, of_c))
    of_states = [None] * steps if of_output is None else (of_output[::-1] if reverse else of_output).transpose(0, 2, 1)
    each = of_gates, of_gates[:, :hidden], of_cell, through, by_gate(gates, hidden)[2], of_states
    for slope, of_out, of_rest, onward, keep, of_state in zip(*[part[::-1] for part in each]):
        if of_state is not None:
            np.add(dh, of_state, dh)
        np.add(dc, dh * onward, dc)
        np.multiply(of_out, dh, of_out)
        np.multiply(of_rest, dc, of_rest)
        np.dot(back, slope, dh)
        np.multiply(dc, keep, dc)
    flat = [a.transpose(1, 0, 2).reshape(a.shape[1], steps * batch) for a in (of_gates, inputs[:steps])]
    of_weights = unrolled(flat[0].dot(flat[1].T))
    parts = [np.ascontiguousarray(part) for part in (of_weights[:, :features], of_weights[:, features:-1], of_weights[:, -1])]
    of_x = inputs_gradient(w_ih, of_gates, reverse) if wants_input else None
    return of_x, *parts, np.ascontiguousarray(dh.T), np.ascontiguousarray(dc.T)


def by_gate(gates, hidden):
    """The four gates of every step."""
    return [gates[:, start : start + hidden] for start in range(0, 4 * hidden, hidden)]


def local_slopes(gates, cells, bent, hidden):
    """What the gradient of the cell (of the hidden state, for gate o) is multiplied by to be that of each gate; and that of the cell."""
    out, take, _, new = by_gate(gates, hidden)
    sigmoids = gates[:, : 3 * hidden]
    slopes = np.empty_like(gates)
    np.subtract(sigmoids, np.square(sigmoids), slopes[:, : 3 * hidden])
    for slope, other in zip(by_gate(slopes, hidden), (bent, new, cells[:-1])):
        slope *= other
    np.multiply(take, 1 - np.square(new), slopes[:, 3 * hidden :])
    return slopes, out * (1 - np.square(bent))


def inputs_gradient(w_ih, of_gates, reverse):
    of_x = np.matmul(rolled(w_ih).T, of_gates[::-1] if reverse else of_gates)
    return np.ascontiguousarray(of_x.transpose(0, 2, 1))
