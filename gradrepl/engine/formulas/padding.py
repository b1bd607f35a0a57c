"""Derivatives of padding. Everything here runs on tensors, so that it can be differentiated."""

from gradrepl.engine.declare import formula
from gradrepl.engine.ops.padding import constant_pad


@formula
def constant_pad_nd_backward(grad, pad):
    """Cut off what was put on."""
    return constant_pad(grad, tuple([-n for n in pad]), 0)
