"""Recurrent networks: a layer of LSTM in one op where PyTorch has one, everything else composed step by step."""

import numpy as np

from gradrepl.engine import lstm as layer
from gradrepl.engine.declare import op
from gradrepl.engine.ops.joining import cat, stack
from gradrepl.engine.ops.nn_linear import linear
from gradrepl.engine.ops.nn_normalization import dropout
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of


@op("UnsafeSplitBackward0", self="split_backward(grads, split_size, dim, self.sym_sizes())", outputs="*")
def unsafe_split(self, split_size, dim=0):
    lead = (slice(None),) * (dim % self.ndim)
    return [self[(*lead, slice(i, i + split_size))].copy() for i in range(0, self.shape[dim], split_size)]


def gates_of(x, count):
    return unsafe_split(x, x.shape[1] // count, 1)


# ---- one step: (gates of the input, hidden, weights) -> hidden


def rnn_step(nonlinearity):
    def step(inputs, hidden, w_hh, b_hh):
        return getattr(linear(hidden, w_hh, b_hh) + inputs, nonlinearity)()

    return step


def lstm_step(inputs, hidden, w_hh, b_hh, w_hr=None):
    h, c = hidden
    i, f, g, o = gates_of(linear(h, w_hh, b_hh) + inputs, 4)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c + i * g
    h = o * c.tanh()
    return (h if w_hr is None else linear(h, w_hr)), c


def gru_step(inputs, hidden, w_hh, b_hh):
    ir, iz, inew = gates_of(inputs, 3)
    hr, hz, hnew = gates_of(linear(hidden, w_hh, b_hh), 3)
    reset, update = (hr + ir).sigmoid(), (hz + iz).sigmoid()
    new = (inew + hnew * reset).tanh()
    return (hidden - new) * update + new


def check_cell(input, hidden, input_size, hidden_size):
    if input.shape[1] != input_size:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {input_size}")
    for state in hidden:
        if state.shape[0] != input.shape[0]:
            raise RuntimeError(f"Input batch size {input.shape[0]} doesn't match hidden0 batch size {state.shape[0]}")
        if state.shape[1] != hidden_size:
            raise RuntimeError(f"hidden0 has inconsistent hidden_size: got {state.shape[1]}, expected {hidden_size}")


def cell(step):
    """One step by itself, as the cell modules call it."""

    def run(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        check_cell(input, hx if isinstance(hx, (tuple, list)) else [hx], w_ih.shape[1], w_hh.shape[1])
        return step(linear(input, w_ih, b_ih), hx, w_hh, b_hh)

    return run


rnn_tanh_cell, rnn_relu_cell, lstm_cell, gru_cell = map(cell, (rnn_step("tanh"), rnn_step("relu"), lstm_step, gru_step))

# ---- a layer in one direction: (input, hidden, weights) -> (output, hidden)


class Steps:
    """All steps of one direction over a sequence (time, batch, features)."""

    def __init__(self, step):
        self.step = step

    def __call__(self, input, hidden, weights, reverse):
        w_ih, w_hh, b_ih, b_hh, *more = weights
        inputs = linear(input, w_ih, b_ih).unbind(0)
        outputs = []
        for x in reversed(inputs) if reverse else inputs:
            hidden = self.step(x, hidden, w_hh, b_hh, *more)
            outputs.append(hidden[0] if isinstance(hidden, tuple) else hidden)
        return stack(outputs[::-1] if reverse else outputs), hidden


class PackedSteps(Steps):
    """The same over packed sequences, which end one by one."""

    def __init__(self, step, batch_sizes):
        self.step, self.batch_sizes = step, batch_sizes

    def __call__(self, input, hidden, weights, reverse):
        return self.backward(input, hidden, weights) if reverse else self.forward(input, hidden, weights)

    def slices(self, inputs):
        at = 0
        for size in self.batch_sizes:
            yield size, inputs.narrow(0, at, size)
            at += size

    def forward(self, input, hidden, weights):
        w_ih, w_hh, b_ih, b_hh, *more = weights
        outputs, ended, last = [], [], self.batch_sizes[0]
        for size, x in self.slices(linear(input, w_ih, b_ih)):
            if size < last:
                ended.append(each(hidden, lambda h, size=size, last=last: h.narrow(0, size, last - size)))
                hidden = each(hidden, lambda h, size=size: h.narrow(0, 0, size))
                last = size
            hidden = self.step(x, hidden, w_hh, b_hh, *more)
            outputs.append(hidden[0] if isinstance(hidden, tuple) else hidden)
        return cat(outputs), joined([hidden, *ended[::-1]])

    def backward(self, input, hidden, weights):
        w_ih, w_hh, b_ih, b_hh, *more = weights
        outputs, start, last = [], hidden, self.batch_sizes[-1]
        hidden = each(start, lambda h: h.narrow(0, 0, last))
        for size, x in reversed(list(self.slices(linear(input, w_ih, b_ih)))):
            if size > last:
                more_rows = each(start, lambda h, size=size, last=last: h.narrow(0, last, size - last))
                hidden, last = joined([hidden, more_rows]), size
            hidden = self.step(x, hidden, w_hh, b_hh, *more)
            outputs.append(hidden[0] if isinstance(hidden, tuple) else hidden)
        return cat(outputs[::-1]), hidden


def each(hidden, change):
    return tuple(map(change, hidden)) if isinstance(hidden, tuple) else change(hidden)


def joined(parts):
    """Hidden states one under the other."""
    return tuple(map(cat, map(list, zip(*parts)))) if isinstance(parts[0], tuple) else cat(parts)


# ---- LSTM over a layer in one op

SAVED = (  # all of it shows on the node
    "weight0, weight1, weight2, weight3, hx_, cx_, result0, result1, result2, result3, "
    "reverse, batch_sizes, mode, hidden_size, num_layers, has_biases, bidirectional, batch_first, train"
)


@op(
    "MkldnnRnnLayerBackward0",
    {"input, weight0, weight1, weight2, weight3, hx_, cx_": f"lstm_layer_backward(grads, grad_input_mask, input, {SAVED})"},
    outputs="result0, result1, result2, result3",
    differentiable="result0, result1, result2",
)
def mkldnn_rnn_layer(
    input,
    weight0,
    weight1,
    weight2,
    weight3,
    hx_,
    cx_,
    reverse,
    batch_sizes,
    mode,
    hidden_size,
    num_layers,
    has_biases,
    bidirectional,
    batch_first,
    train,
):
    """(outputs, last hidden, last cell, what the way back needs)"""
    output, cell, space = layer.run(input, weight0, weight1, weight2 + weight3, hx_, cx_, reverse)
    return output, output[0 if reverse else -1].copy(), cell, space.view(np.uint8)


def lstm_layer(input, hidden, weights, reverse):
    w_ih, w_hh, b_ih, b_hh = weights
    has_biases = b_ih is not None
    if not has_biases:
        b_ih = b_hh = tensor_of(np.zeros(w_ih.shape[0], w_ih.array.dtype))
    options = reverse, (), 2, w_hh.shape[1], 1, has_biases, False, False, True
    output, h, c, _ = mkldnn_rnn_layer(input, w_ih, w_hh, b_ih, b_hh, *hidden, *options)
    return output, (h, c)


# ---- the stack of layers


def weights_of(params, has_biases, projected):
    """The flat parameters as (w_ih, w_hh, b_ih, b_hh[, w_hr]) a layer and direction."""
    width = 2 + 2 * has_biases + projected
    for i in range(0, len(params), width):
        weights = list(params[i : i + width])
        last = [weights.pop()] if projected else []
        yield (*weights, *([None, None] if not has_biases else []), *last)


def through_layers(layer, input, hiddens, weights, num_layers, drop, train, bidirectional):
    """(output, the last hidden state of every layer and direction)"""
    directions, finals = 2 if bidirectional else 1, []
    for number in range(num_layers):
        outputs = []
        for direction in range(directions):
            place = number * directions + direction
            output, final = layer(input, hiddens[place], weights[place], bool(direction))
            outputs.append(output)
            finals.append(final)
        input = cat(outputs, outputs[0].array.ndim - 1) if bidirectional else outputs[0]
        if drop and train and number < num_layers - 1:
            input = dropout(input, drop, True)
    return input, finals


def network(step):
    """rnn_tanh, rnn_relu or gru: over a batch of sequences, or over packed ones."""

    def run(input, second, third, fourth, *options):
        if isinstance(third, (list, tuple)):  # (input, hx, params, …, batch_first)
            hx, params = second, third
            has_biases, num_layers, drop, train, bidirectional, batch_first = (fourth, *options)
            layer, input = Steps(step), input.transpose(0, 1) if batch_first else input
        else:  # (data, batch_sizes, hx, params, …)
            hx, params, batch_first = third, fourth, False
            has_biases, num_layers, drop, train, bidirectional = options
            layer = PackedSteps(step, second.tolist())
        weights = list(weights_of(params, has_biases, False))
        output, finals = through_layers(layer, input, hx.unbind(0), weights, num_layers, drop, train, bidirectional)
        return output.transpose_(0, 1) if batch_first else output, stack(finals)

    return run


rnn_tanh, rnn_relu, gru = network(rnn_step("tanh")), network(rnn_step("relu")), network(gru_step)


def lstm(input, second, third, fourth, *options):
    """((input, hx, params, …, batch_first) or (data, batch_sizes, hx, params, …)) -> (output, h, c)"""
    if isinstance(second, (list, tuple)):
        hx, params = second, third
        has_biases, num_layers, drop, train, bidirectional, batch_first = (fourth, *options)
        input, packed = input.transpose(0, 1) if batch_first else input, None
    else:
        hx, params, batch_first, packed = third, fourth, False, second
        has_biases, num_layers, drop, train, bidirectional = options
    projected = hx[0].shape[2] != hx[1].shape[2]
    weights = list(weights_of(params, has_biases, projected))
    if packed is not None:
        layer = PackedSteps(lstm_step, packed.tolist())
    else:
        layer = lstm_layer if input.array.dtype == np.float32 and input.array.size and not projected else Steps(lstm_step)
    hiddens = list(zip(hx[0].unbind(0), hx[1].unbind(0)))
    output, finals = through_layers(layer, input, hiddens, weights, num_layers, drop, train, bidirectional)
    hidden = stack([h for h, _ in finals]), stack([c for _, c in finals])
    return output.transpose(0, 1) if batch_first else output, *hidden


publish(
    globals(),
    functions="lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell unsafe_split mkldnn_rnn_layer",
)
