"""torch.nn.attention.bias: masks that let a query see the keys up to its own place. Imports torch."""

__name__ = "torch.nn.attention.bias"

import warnings
from enum import IntEnum, auto

from gradrepl import torch
from gradrepl.engine.subclasses import _disabled_torch_function_impl
from gradrepl.engine.tensor import Tensor, tensor_of


class CausalVariant(IntEnum):
    """The corner that the diagonal starts from."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """The mask, as a tensor of booleans."""

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        start = seq_len_kv - seq_len_q if variant is CausalVariant.LOWER_RIGHT else 0
        mask = torch.ones(seq_len_q, seq_len_kv, dtype=torch.bool).tril(start)
        made = tensor_of(mask.array, cls)
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made

    def __init__(self, variant, seq_len_q, seq_len_kv):
        if variant is CausalVariant.LOWER_RIGHT and seq_len_q > seq_len_kv:
            warnings.warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", stacklevel=2)

    def __repr__(self):
        return repr(tensor_of(self.array))


def two(name, size):
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return size


def causal_upper_left(*size):
    """Query i sees the keys 0 to i."""
    return CausalBias(CausalVariant.UPPER_LEFT, *two("causal_upper_left", size))


def causal_lower_right(*size):
    """The last query sees all keys, the one before it all but the last, and so on."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *two("causal_lower_right", size))
