"""torch.nn.utils.fusion: a batch normalisation in evaluation taken into the layer before it."""

__name__ = __name__.removeprefix("gradrepl.")

import copy

from gradrepl import torch
from gradrepl.torch.nn.parameter import Parameter


def fused(weight, bias, bn_mean, bn_var, bn_eps, bn_weight, bn_bias, shape):
    bias = torch.zeros_like(bn_mean) if bias is None else bias
    bn_weight = torch.ones_like(bn_mean) if bn_weight is None else bn_weight
    bn_bias = torch.zeros_like(bn_mean) if bn_bias is None else bn_bias
    scale = bn_weight * torch.rsqrt(bn_var + bn_eps)
    return (
        Parameter(weight * scale.reshape(shape), weight.requires_grad),
        Parameter((bias - bn_mean) * scale + bn_bias, bias.requires_grad),
    )


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    shape = [1, -1] if transpose else [-1, 1]
    return fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape + [1] * (conv_w.dim() - 2))


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    return fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def into_copy(layer, bn, fuse, **options):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse(made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, **options)
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    return into_copy(conv, bn, fuse_conv_bn_weights, transpose=transpose)


def fuse_linear_bn_eval(linear, bn):
    return into_copy(linear, bn, fuse_linear_bn_weights)
