"""Derivatives of convolutions: convolutions again, so that they can be differentiated."""

from gradrepl.engine.declare import formula
from gradrepl.engine.ops.nn_convolution import convolution, convolution_backward_parts


@formula
def convolution_backward(grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):
    """The three gradients, each only if asked for."""
    wanted = tuple(map(bool, output_mask))
    options = stride, padding, dilation, transposed, output_padding, groups
    parts = iter(convolution_backward_parts(grad, input, weight, *options, wanted))
    return [next(parts) if asked else None for asked in wanted]


@formula
def convolution_double_backward(
    grads, grad_output, input, weight, stride, padding, dilation, transposed, output_padding, groups, output_mask, wanted
):
    """The op is linear in each of (grad_output, input), (grad_output, weight): its parts with one factor exchanged."""
    given = iter(grads)
    to_input, to_weight, to_bias = (next(given) if asked else None for asked in output_mask)
    options = stride, padding, dilation, transposed, output_padding, groups
    of_output = of_input = of_weight = None
    if wanted[0]:
        of_output = total(
            to_input is not None and convolution(to_input, weight, None, *options),
            to_weight is not None and convolution(input, to_weight, None, *options),
            to_bias is not None and to_bias.reshape(-1, *(1,) * (grad_output.dim() - 2)).expand(grad_output.shape),
        )
    if wanted[1] and to_weight is not None:
        (of_input,) = convolution_backward_parts(grad_output, input, to_weight, *options, (True, False, False))
    if wanted[2] and to_input is not None:
        (of_weight,) = convolution_backward_parts(grad_output, to_input, weight, *options, (False, True, False))
    return [of_output, of_input, of_weight]


def total(*parts):
    """The sum of the parts that are there."""
    found = [part for part in parts if part is not False]
    whole = found[0] if found else None
    for part in found[1:]:
        whole = whole + part
    return whole


@formula
def conv_tbc_backward(grad, self, weight, bias, pad, mask):
    """A one-dimensional convolution with its dimensions in another order."""
    x, kernels, grad = self.permute(1, 2, 0), weight.permute(2, 1, 0), grad.permute(1, 2, 0)
    options = (1,), (pad,), (1,), False, (0,), 1
    parts = iter(convolution_backward_parts(grad, x, kernels, *options, tuple(map(bool, mask))))
    orders = (2, 0, 1), (2, 1, 0), (0,)
    return [next(parts).permute(*order) if asked else None for asked, order in zip(mask, orders)]
