"""torch.nn.functional's multi_head_attention_forward; functional.py shows it."""

__name__ = "torch.nn.functional"

import math

import gradrepl.engine.nn
from gradrepl import torch
from gradrepl.engine.advice import warn
from gradrepl.engine.ops.nn_attention import scaled_dot_product_attention
from gradrepl.engine.ops.nn_linear import linear
from gradrepl.torch.nn._layers import dropout
from gradrepl.torch.nn._windows import pad


def _none_or_dtype(input):
    return None if input is None else input.dtype


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as what is added to the scores: -inf where a boolean one is True."""
    if mask is None:
        return None
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.")
    if mask.is_floating_point():
        return mask
    return torch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


# ---- projections


def parts_of(projected, count, size):
    """Packed projections as tensors of their own."""
    return projected.unflatten(-1, (count, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()


def _in_projection_packed(q, k, v, w, b=None):
    """Queries, keys and values from one weight: in one product where they come from one tensor, in two where keys and values do."""
    size = q.size(-1)
    if k is v and q is k:
        packed = parts_of(linear(q, w, b), 3, size)
        return packed[0], packed[1], packed[2]
    if k is v:
        w_q, w_kv = w.split([size, size * 2])
        b_q, b_kv = (None, None) if b is None else b.split([size, size * 2])
        query, packed = linear(q, w_q, b_q), parts_of(linear(k, w_kv, b_kv), 2, size)
        return query, packed[0], packed[1]
    weights = w.chunk(3)
    biases = (None, None, None) if b is None else b.chunk(3)
    return tuple(linear(x, weight, bias) for x, weight, bias in zip((q, k, v), weights, biases))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    size = q.size(-1)
    for name, x, w in (("query", q, w_q), ("key", k, w_k), ("value", v, w_v)):
        if tuple(w.shape) != (size, x.size(-1)):
            raise AssertionError(f"expecting {name} weights shape of {(size, x.size(-1))}, but got {w.shape}")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def projected(query, key, value, weights, packed_weight, bias):
    """With three weights, or with one where `weights` is None."""
    if weights is None:
        return _in_projection_packed(query, key, value, packed_weight, bias)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return _in_projection(query, key, value, *weights, *biases)


# ---- checks


def check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the input is a batch."""
    batched = query.dim() == 3
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor")
    kind, dims = ("batched (3-D)", 3) if batched else ("unbatched (2-D)", 2)
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dims}-D "
            f"but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or "
            f"{dims - 1}-D but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        expected = (num_heads, query.shape[0], key.shape[0])
        if not batched and attn_mask.dim() == 3 and tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return batched


def check_sizes(query, key, value, embed_dim_to_check, num_heads, separate):
    embed_dim = query.shape[-1]
    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    if embed_dim % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def causal(attn_mask, is_causal, key_padding_mask, need_weights, dtype):
    """(the mask, whether the op is to make it itself): the hint says that the given mask is the causal one."""
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        return None, True
    return _canonical_mask(attn_mask, "attn_mask", None, "", dtype, False), is_causal and key_padding_mask is None


def with_heads(attn_mask, target, source, batch, num_heads):
    """The mask with a first dimension for the heads."""
    if attn_mask is None:
        return None
    wanted = (target, source) if attn_mask.dim() == 2 else (batch * num_heads, target, source)
    if attn_mask.dim() not in (2, 3):
        raise RuntimeError(f"attn_mask's dimension {attn_mask.dim()} is not supported")
    if tuple(attn_mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {wanted}.")
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


# ---- the whole


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    batched = check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = unsqueezed(query, key, value)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    (target, batch, size), source = query.shape, key.shape[0]
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype)
    attn_mask, is_causal = causal(attn_mask, is_causal, key_padding_mask, need_weights, query.dtype)
    check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = projected(query, key, value, weights, in_proj_weight, in_proj_bias)
    attn_mask = with_heads(attn_mask, target, source, batch, num_heads)
    if bias_k is not None and bias_v is not None:
        k, v = torch.cat([k, bias_k.repeat(1, batch, 1)]), torch.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = wider(attn_mask), wider(key_padding_mask)
    heads = lambda x: x.view(x.shape[0], batch * num_heads, size // num_heads).transpose(0, 1)
    q, k, v = heads(q), static_k if static_k is not None else heads(k), static_v if static_v is not None else heads(v)
    if add_zero_attn:
        zeros = torch.zeros((batch * num_heads, 1, size // num_heads), dtype=k.dtype)
        k, v = torch.cat([k, zeros], dim=1), torch.cat([v, zeros], dim=1)
        attn_mask, key_padding_mask = wider(attn_mask), wider(key_padding_mask)
    attn_mask = merged(attn_mask, key_padding_mask, batch, num_heads, k.size(1))
    settings = attn_mask, dropout_p if training else 0.0, batch, num_heads, (out_proj_weight, out_proj_bias)
    if not need_weights:
        output = by_op(q, k, v, is_causal, *settings)
        return output if batched else output.squeeze(1), None
    output, weights = by_hand(q, k, v, *settings)
    weights = weights.mean(dim=1) if average_attn_weights else weights
    return (output, weights) if batched else (output.squeeze(1), weights.squeeze(0))


def unsqueezed(query, key, value):
    """As a batch of one; what is one tensor stays one."""
    made = {number: x.unsqueeze(1) for number, x in {id(x): x for x in (query, key, value)}.items()}
    return made[id(query)], made[id(key)], made[id(value)]


def wider(mask):
    """One more place that everybody sees."""
    return None if mask is None else pad(mask, (0, 1))


def merged(attn_mask, key_padding_mask, batch, num_heads, source):
    if key_padding_mask is None:
        return attn_mask
    padding = key_padding_mask.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, source)
    return padding if attn_mask is None else attn_mask + padding


def by_hand(q, k, v, attn_mask, dropout_p, batch, num_heads, out_proj):
    """With the weights, every step an op."""
    target, source, size = q.size(1), k.size(1), q.size(2)
    q_scaled = q * math.sqrt(1.0 / float(size))
    if attn_mask is not None:
        scores = torch.baddbmm(attn_mask, q_scaled, k.transpose(-2, -1))
    else:
        scores = torch.bmm(q_scaled, k.transpose(-2, -1))
    weights = scores.softmax(dim=-1)
    if dropout_p > 0.0:
        weights = dropout(weights, p=dropout_p)
    output = torch.bmm(weights, v).transpose(0, 1).reshape(target * batch, num_heads * size)
    output = linear(output, *out_proj)
    return output.view(target, batch, output.size(1)), weights.view(batch, num_heads, target, source)


def by_op(q, k, v, is_causal, attn_mask, dropout_p, batch, num_heads, out_proj):
    """Without the weights, in one op."""
    target, source, size = q.size(1), k.size(1), q.size(2)
    if attn_mask is not None:
        alone = attn_mask.size(0) == 1 and attn_mask.dim() == 3
        attn_mask = attn_mask.unsqueeze(0) if alone else attn_mask.view(batch, num_heads, -1, source)
    q, k, v = q.view(batch, num_heads, target, size), k.view(batch, num_heads, source, size), v.view(batch, num_heads, source, size)
    output = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    output = output.permute(2, 0, 1, 3).reshape(batch * target, num_heads * size)
    output = linear(output, *out_proj)
    return output.view(target, batch, output.size(1))
