"""torch.nn.modules.rnn: recurrent networks and their cells. What they compute stands in engine/ops/nn_recurrent.py."""

__name__ = __name__.removeprefix("gradrepl.")

import math
import numbers
import warnings

import gradrepl.torch.nn.init as init
from gradrepl import torch
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.nn.parameter import Parameter
from gradrepl.torch.nn.utils.rnn import PackedSequence

GATES = dict(LSTM=4, GRU=3, RNN_TANH=1, RNN_RELU=1)
BAD_HIDDEN = "Expected hidden size {}, got {}"


def checked_sizes(input_size, hidden_size, num_layers, bias, batch_first):
    for name, value, kind in (("input_size", input_size, int), ("hidden_size", hidden_size, int)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
    if not isinstance(bias, bool):
        raise TypeError(f"bias should be of type bool, got: {type(bias).__name__}")
    if not isinstance(batch_first, bool):
        raise TypeError(f"batch_first should be of type bool, got: {type(batch_first).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")


def check_dropout(dropout, num_layers):
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, but "
            f"got dropout={dropout} and num_layers={num_layers}",
            stacklevel=3,
        )


def check_projection(proj_size, hidden_size):
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """What the recurrent networks share: the weights of every layer and direction."""

    __constants__ = "mode input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size".split()
    __jit_unused_properties__ = ["all_weights"]
    noun = ""

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        check_dropout(dropout, num_layers)
        checked_sizes(input_size, hidden_size, num_layers, bias, batch_first)
        check_projection(proj_size, hidden_size)
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size, self.num_layers, self.bias = mode, input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, float(dropout), bidirectional, proj_size
        self._flat_weights_names, self._all_weights = [], []
        for layer in range(num_layers):
            for direction in range(self.directions):
                self.place_layer(layer, direction, dict(device=device, dtype=dtype))
        self.reset_parameters()

    @property
    def directions(self):
        return 2 if self.bidirectional else 1

    def place_layer(self, layer, direction, like):
        rows, out = GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        columns = self.input_size if layer == 0 else out * self.directions
        sizes = dict(weight_ih=(rows, columns), weight_hh=(rows, out))
        if self.bias:
            sizes.update(bias_ih=(rows,), bias_hh=(rows,))
        if self.proj_size:
            sizes.update(weight_hr=(self.proj_size, self.hidden_size))
        suffix = f"_l{layer}" + "_reverse" * direction
        for name, size in sizes.items():
            setattr(self, name + suffix, Parameter(torch.empty(size, **like)))
        names = [name + suffix for name in sizes]
        self._all_weights.append(names)
        self._flat_weights_names += names

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """The weights lie where they are: only GPUs want them in one block."""

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -stdv, stdv)

    # ---- checks

    def check_input(self, input, batch_sizes):
        weight = getattr(self, self._flat_weights_names[0])
        if input.array.dtype is not weight.array.dtype and input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: input.to({weight.dtype}), "
                f"or convert model: model.to({input.dtype})"
            )
        dims, shape = 2 if batch_sizes is not None else 3, input.array.shape
        if len(shape) != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {len(shape)}")
        if self.input_size != shape[-1]:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {shape[-1]}")

    def batch_of(self, input, batch_sizes):
        return int(batch_sizes[0]) if batch_sizes is not None else input.array.shape[0 if self.batch_first else 1]

    def get_expected_hidden_size(self, input, batch_sizes):
        size = self.proj_size or self.hidden_size
        return self.num_layers * self.directions, self.batch_of(input, batch_sizes), size

    def check_hidden_size(self, hx, expected_hidden_size, msg=BAD_HIDDEN):
        if hx.array.shape != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        return hx if permutation is None else hx.index_select(1, permutation)

    # ---- running

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self.run_packed(input, hx)
        if input.array.ndim not in (2, 3):
            tensor = " tensor" * (self.noun == "RNN")
            raise ValueError(f"{self.noun}: Expected input to be 2D or 3D, got {input.dim()}D{tensor} instead")
        batched = input.array.ndim == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        hx = self.first_hidden(hx, input, batched)
        self.check_forward_args(input, hx, None)
        output, hidden = self.run(input, hx)
        if not batched:
            output, hidden = output.squeeze(0 if self.batch_first else 1), self.each(hidden, lambda h: h.squeeze(1))
        return output, hidden

    def run_packed(self, input, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if hx is None:
            hx = self.zeros_for(data, batch_sizes, sorted_indices)
        else:
            hx = self.each(hx, lambda h: self.permute_hidden(h, sorted_indices))
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self.run(data, hx, batch_sizes)
        packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed, self.each(hidden, lambda h: self.permute_hidden(h, unsorted_indices))

    def each(self, hidden, change):
        """Apply to the hidden state: one tensor, or a pair of them."""
        return tuple(map(change, hidden)) if isinstance(hidden, tuple) else change(hidden)

    def zeros(self, size, input, batch_sizes):
        return torch.zeros(self.num_layers * self.directions, self.batch_of(input, batch_sizes), size, dtype=input.dtype)

    def zeros_for(self, input, batch_sizes=None, permutation=None):
        return self.zeros(self.hidden_size, input, batch_sizes)

    def first_hidden(self, hx, input, batched):
        if hx is None:
            return self.zeros_for(input)
        if batched and hx.dim() != 3:
            raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")
        if not batched and hx.dim() != 2:
            raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
        return hx if batched else hx.unsqueeze(1)

    def run(self, input, hx, batch_sizes=None):
        """(output, hidden) of the whole stack."""
        network = getattr(torch, self.mode.lower())
        options = self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
        if batch_sizes is None:
            output, *hidden = network(input, hx, self._flat_weights, *options, self.batch_first)
        else:
            output, *hidden = network(input, batch_sizes, hx, self._flat_weights, *options)
        return output, hidden[0] if len(hidden) == 1 else tuple(hidden)

    # ---- showing and keeping

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        usual = dict(proj_size=0, num_layers=1, bias=True, batch_first=False, dropout=0, bidirectional=False)
        return ", ".join(parts + [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value])


def no_projection(kwargs):
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """h' = tanh(W x + b + U h + c), or with relu."""

    noun = "RNN"

    def __init__(self, *args, **kwargs):
        no_projection(kwargs)
        if len(args) > 3:
            self.nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + self.nonlinearity.upper(), *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory."""

    noun = "LSTM"

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def zeros_for(self, input, batch_sizes=None, permutation=None):
        return self.zeros(self.proj_size or self.hidden_size, input, batch_sizes), self.zeros(self.hidden_size, input, batch_sizes)

    def first_hidden(self, hx, input, batched):
        if hx is None:
            return self.zeros_for(input)
        if batched and (hx[0].dim() != 3 or hx[1].dim() != 3):
            raise RuntimeError(f"For batched 3-D input, hx and cx should also be 3-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
        if not batched and (hx[0].dim() != 2 or hx[1].dim() != 2):
            raise RuntimeError(f"For unbatched 2-D input, hx and cx should also be 2-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
        return tuple(hx) if batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def get_expected_cell_size(self, input, batch_sizes):
        return self.num_layers * self.directions, self.batch_of(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}")


class GRU(RNNBase):
    """Gated recurrent units."""

    noun = "GRU"

    def __init__(self, *args, **kwargs):
        no_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What the cells share: one step's weights."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        empty, rows = lambda *shape: Parameter(torch.empty(shape, device=device, dtype=dtype)), num_chunks * hidden_size
        self.weight_ih, self.weight_hh = empty(rows, input_size), empty(rows, hidden_size)
        self.register_parameter("bias_ih", empty(rows) if bias else None)
        self.register_parameter("bias_hh", empty(rows) if bias else None)
        self.reset_parameters()

    reset_parameters = RNNBase.reset_parameters

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"] + [f"bias={self.bias}"] * (self.bias is not True)
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return ", ".join(parts + [f"nonlinearity={nonlinearity}"] * (nonlinearity != "tanh"))

    def step(self, cell, input, hx):
        """One step of one hidden tensor; a single sample passes as a batch of one."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None and hx.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {hx.dim()}D instead")
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype)
        elif not batched:
            hx = hx.unsqueeze(0)
        result = cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if batched else result.squeeze(0)


class RNNCell(RNNCellBase):
    """h' = tanh(W x + b + U h + c), or with relu."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self.step(torch.rnn_tanh_cell if self.nonlinearity == "tanh" else torch.rnn_relu_cell, input, hx)


class LSTMCell(RNNCellBase):
    """One step of long short-term memory."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        if input.dim() not in (1, 2):
            raise ValueError(f"LSTMCell: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for place, value in enumerate(hx if hx is not None else ()):
            if value.dim() not in (1, 2):
                raise ValueError(f"LSTMCell: Expected hx[{place}] to be 1D or 2D, got {value.dim()}D instead")
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype)
            hx = zeros, zeros
        elif not batched:
            hx = hx[0].unsqueeze(0), hx[1].unsqueeze(0)
        result = torch.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if batched else (result[0].squeeze(0), result[1].squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self.step(torch.gru_cell, input, hx)
