"""MultiheadAttention as a module; what it computes stands in functional.py. It shows itself as part of torch.nn.modules.activation."""

__name__ = "torch.nn.modules.activation"

import gradrepl.torch.nn.functional as F
import gradrepl.torch.nn.init as init
from gradrepl import torch
from gradrepl.torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.nn.parameter import Parameter


class MultiheadAttention(Module):
    """Attention in several subspaces at once."""

    __constants__ = ["batch_first"]

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead")
        super().__init__()
        self.embed_dim, self.kdim, self.vdim = embed_dim, kdim if kdim is not None else embed_dim, vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first, self.head_dim = num_heads, dropout, batch_first, embed_dim // num_heads
        if self.head_dim * num_heads != self.embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.place_parameters(bias, add_bias_kv, dict(device=device, dtype=dtype))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def place_parameters(self, bias, add_bias_kv, like):
        empty, size = lambda *shape: Parameter(torch.empty(shape, **like)), self.embed_dim
        if self._qkv_same_embed_dim:
            self.in_proj_weight = empty(3 * size, size)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight = empty(size, size), empty(size, self.kdim), empty(size, self.vdim)
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", empty(3 * size) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(size, size, bias=bias, **like)
        self.bias_k, self.bias_v = (empty(1, 1, size), empty(1, 1, size)) if add_bias_kv else (None, None)

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state):
        super().__setstate__({"_qkv_same_embed_dim": True, **state})

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False
    ):
        batched = query.dim() == 3
        if self.batch_first and batched:
            query, key, value = swapped(query, key, value)
        separate = {}
        if not self._qkv_same_embed_dim:
            separate = {name: getattr(self, name) for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight")}
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **separate,
        )
        return (output.transpose(1, 0), weights) if self.batch_first and batched else (output, weights)


def swapped(query, key, value):
    """The sequence first. What is one tensor stays one: in_projection asks who is who."""
    if key is value:
        key = value = key.transpose(1, 0) if query is not key else None
        query = query.transpose(1, 0)
        return (query, query, query) if key is None else (query, key, value)
    return tuple(x.transpose(1, 0) for x in (query, key, value))
