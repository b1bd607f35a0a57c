"""Scaled dot product attention: in one op where PyTorch has one, else composed."""

import math

import numpy as np

from gradrepl.engine.declare import Maybe, formula, op
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.activations import softmax_of
from gradrepl.engine.ops.nn_normalization import dropout
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of

ONE_OP = "ScaledDotProductFlashAttentionForCpuBackward0"


@op("SafeSoftmaxBackward0", self="softmax_backward_data(grad, result, dim)")
def _safe_softmax(self, dim, dtype=None):
    """A softmax that is zero along lines of -inf."""
    x = self if dtype is None else self.astype(dtype.array)
    if not x.size:
        return x.copy()
    empty = np.isneginf(x).all(dim, keepdims=True)
    return np.where(empty, x.dtype.type(0), softmax_of(np.where(empty, x.dtype.type(0), x), dim % x.ndim))


@op(
    ONE_OP,
    {"query, key, value": "flash_attention_backward(grad, query, key, value, output, logsumexp, is_causal, attn_mask, scale)"},
    outputs="output, logsumexp",
    differentiable="output",
)
def _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p=0.0, is_causal=False, attn_mask: Maybe = None, scale=None):
    scores = scores_of(query, key, is_causal, attn_mask, scale)
    highest = np.maximum(scores.max(-1, keepdims=True), np.finfo(scores.dtype).min)
    weights = np.exp(scores - highest)
    total = weights.sum(-1, keepdims=True)
    whole = np.where(total == 0, total.dtype.type(1), total)
    out = np.matmul(weights, value) / whole
    return laid_out_as(query, out), (highest + np.log(whole))[..., 0]


def laid_out_as(query, out):
    """The output in the memory order of the query, as PyTorch has it: it is to be seen in what follows."""
    like = np.empty_like(query, dtype=out.dtype, shape=out.shape)
    like[...] = out
    return like


def scores_of(query, key, is_causal, mask, scale):
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = np.matmul(query, key.swapaxes(-1, -2)) * query.dtype.type(scale)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf).astype(scores.dtype)
    return scores if mask is None else scores + mask


@formula
def flash_attention_backward(grad, query, key, value, output, logsumexp, is_causal, attn_mask, scale):
    """The weights are made anew from the scores; PyTorch has no second derivative here either."""
    grad, q, k, v, out = (x.array for x in (grad, query, key, value, output))
    mask = None if attn_mask is None else attn_mask.array
    weights = np.exp(scores_of(q, k, is_causal, mask, scale) - logsumexp.array[..., None])
    of_weights = np.matmul(grad, v.swapaxes(-1, -2))
    of_scores = weights * (of_weights - (grad * out).sum(-1, keepdims=True))
    of_scores *= q.dtype.type(1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    parts = np.matmul(of_scores, k), np.matmul(of_scores.swapaxes(-1, -2), q), np.matmul(weights.swapaxes(-1, -2), grad)
    return [tensor_of(part) for part in parts]


def fits_one_op(query, key, value, attn_mask, dropout_p):
    sizes = {x.shape[-1] for x in (query, key, value)}
    plain = all(x.array.ndim == 4 and x.array.size for x in (query, key, value)) and len(sizes) == 1
    same_heads = query.shape[:2] == key.shape[:2] == value.shape[:2] if plain else False
    return plain and same_heads and dropout_p == 0 and not (attn_mask is not None and (attn_mask.requires_grad or attn_mask.array.ndim < 2))


def additive(attn_mask, query):
    """A boolean mask as what is added to the scores."""
    if attn_mask is None or attn_mask.array.dtype.kind != "b":
        return attn_mask
    return tensor_of(np.where(attn_mask.array, 0, -np.inf).astype(query.array.dtype))


NO_WAY = (
    "No viable backend for scaled_dot_product_attention was found. "
    "This is likely due to turning off both the math kernel and the fused kernels."
)


class Ways:
    """The ways that may be taken; torch.nn.attention.sdpa_kernel closes some."""

    one_op, composed = True, True


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    check(query, key, value, attn_mask, is_causal)
    mask = additive(attn_mask, query)
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    if Ways.one_op and fits_one_op(query, key, value, mask, dropout_p):
        return _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, mask, scale)[0]
    if not Ways.composed:
        raise RuntimeError(NO_WAY)
    return composed(query, key, value, mask, dropout_p, is_causal, scale)


def check(query, key, value, attn_mask, is_causal):
    dims = [x.array.ndim for x in (query, key, value)]
    if len({x.array.dtype for x in (query, key, value)}) > 1:
        kinds = " and ".join(
            f"{name}.dtype: {SCALAR_TYPES[x.array.dtype.name]}" for name, x in (("query", query), ("key", key), ("value", value))
        ).replace(" and ", " ", 1)
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got {kinds} instead.")
    if min(dims) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {dims[0]} key.dim: {dims[1]} and "
            f"value.dim: {dims[2]} instead."
        )
    if attn_mask is not None and is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")


def composed(query, key, value, mask, dropout_p, is_causal, scale):
    """softmax(Q Kᵀ) V, the scale shared between Q and K."""
    half = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        size = query.shape[-2], key.shape[-2]
        mask = tensor_of(np.where(np.tri(*size, dtype=bool), 0, -np.inf).astype(query.array.dtype))
    scaled = NAMES["mul_scalar"](query, half)
    scores = scaled.matmul(NAMES["mul_scalar"](key.transpose(-2, -1), half))
    if mask is not None:
        scores = scores + mask
    weights = _safe_softmax(scores, -1)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)
    return weights.matmul(value)


publish(globals(), functions="_safe_softmax _scaled_dot_product_flash_attention_for_cpu")
