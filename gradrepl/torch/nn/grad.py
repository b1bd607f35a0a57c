"""torch.nn.grad: the gradients of convolutions as functions."""

__name__ = "torch.nn.grad"

import gradrepl.engine.nn
from gradrepl import torch
from gradrepl.engine.ops.nn_convolution import convolution_backward_parts
from gradrepl.torch.nn.modules.utils import _pair, _single, _triple


def of_input(repeated):
    def conv_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        options = repeated(stride), repeated(padding), repeated(dilation), False, repeated(0), groups
        input = torch.empty(1, dtype=grad_output.dtype).expand(input_size)
        return convolution_backward_parts(grad_output, input, weight, *options, (True, False, False))[0]

    return conv_input


def of_weight(repeated):
    def conv_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        options = repeated(stride), repeated(padding), repeated(dilation), False, repeated(0), groups
        weight = torch.empty(1, dtype=grad_output.dtype).expand(weight_size)
        return convolution_backward_parts(grad_output, input, weight, *options, (False, True, False))[0]

    return conv_weight


conv1d_input, conv1d_weight = of_input(_single), of_weight(_single)
conv2d_input, conv2d_weight = of_input(_pair), of_weight(_pair)
conv3d_input, conv3d_weight = of_input(_triple), of_weight(_triple)
