"""Embeddings: rows of a table, alone and in bags."""

import numpy as np

from gradrepl.engine.declare import Array, Maybe, op
from gradrepl.engine.modes import no_grad
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of

BAD_INDEX = (
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
    "Long, Int; but got {} instead (while checking arguments for {})"
)


def rows_of(weight, indices):
    if indices.size and (indices.min() < 0 or indices.max() >= len(weight)):
        raise IndexError("index out of range in self")
    return weight[indices]


@op(
    "EmbeddingBackward0",
    weight="embedding_backward(grad, indices, weight.sym_argsize_0(), padding_idx, scale_grad_by_freq, sparse)",
)
def embedding_rows(weight, indices: Array, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return rows_of(weight, indices)


@op("EmbeddingDenseBackwardBackward0", grad_output="embedding_dense_double_backward(grad, indices, padding_idx)")
def embedding_dense_backward(grad_output, indices: Array, num_weights, padding_idx, scale_grad_by_freq):
    """Add each gradient to the row it came from; the padding's row stays zero."""
    flat, grads = indices.ravel(), grad_output.reshape(-1, grad_output.shape[-1])
    if scale_grad_by_freq:
        grads = grads / np.bincount(flat, minlength=num_weights)[flat][:, None].astype(grads.dtype)
    out = np.zeros((num_weights, grads.shape[1]), grad_output.dtype)
    if padding_idx >= 0:
        kept = flat != padding_idx
        flat, grads = flat[kept], grads[kept]
    np.add.at(out, flat, grads)
    return out


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if weight.array.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_indices(indices, "embedding")
    return embedding_rows(weight, indices, padding_idx, scale_grad_by_freq, sparse)


def check_indices(indices, name):
    if str(indices.dtype) not in ("torch.int64", "torch.int32"):
        raise RuntimeError(BAD_INDEX.format(indices.type(), name))


def embedding_renorm_(weight, indices, max_norm, norm_type):
    """Scale the rows in use down to a norm, in place and unrecorded."""
    with no_grad():
        used = np.unique(indices.array)
        rows = rows_of(weight.array, used)
        norms = np.linalg.norm(rows.astype(np.float64), norm_type, axis=1)
        scale = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0).astype(rows.dtype)
        renormed = weight.array.copy()
        renormed[used] = rows * scale[:, None]
        weight.copy_(tensor_of(renormed))
    return weight


# ---- bags

MODES = dict(sum=0, mean=1, max=2)


@op(
    "EmbeddingBagBackward0",
    outputs="output, result1, result2, result3",
    differentiable="output",
    weight="embedding_bag_backward(grad, indices, offsets, result1, result2, result3, weight.sym_argsize_0(), "
    "scale_grad_by_freq, mode, per_sample_weights, padding_idx)",
    per_sample_weights="embedding_bag_weights_backward(grad, weight, indices, result1, padding_idx)",
)
def _embedding_bag(
    weight,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights: Maybe = None,
    include_last_offset=False,
    padding_idx=-1,
):
    """(bags, the bag of every index, the size of every bag, the index that gave each maximum)"""
    starts = offsets[:-1] if include_last_offset else offsets
    bag = np.searchsorted(starts, np.arange(len(indices)), side="right") - 1
    rows, kept = rows_of(weight, indices), indices != padding_idx
    sizes = np.bincount(bag[kept], minlength=len(starts))
    if mode == 2:
        out, chosen = maxima(rows, bag, kept, len(starts), indices)
        return out, bag, sizes, chosen
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None]
    out = np.zeros((len(starts), weight.shape[1]), weight.dtype)
    np.add.at(out, bag[kept], rows[kept])
    if mode == 1:
        out /= np.maximum(sizes, 1)[:, None].astype(out.dtype)
    return out, bag, sizes, np.zeros((0,), np.int64)


def maxima(rows, bag, kept, count, indices):
    out, chosen = np.zeros((count, rows.shape[1]), rows.dtype), np.full((count, rows.shape[1]), -1, np.int64)
    for b in range(count):
        (members,) = np.nonzero((bag == b) & kept)
        if len(members):
            places = members[rows[members].argmax(0)]
            out[b], chosen[b] = rows[places, np.arange(rows.shape[1])], indices[places]
    return out, chosen


def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    check_indices(indices, "embedding_bag")
    if padding_idx is not None and not -len(weight.array) <= padding_idx < len(weight.array):
        raise RuntimeError(f"padding_idx must be within the number of embeddings, 0 through {len(weight.array) - 1}, but got {padding_idx}")
    padding_idx = -1 if padding_idx is None else padding_idx % len(weight.array)
    if offsets.array.size and offsets.array[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch "
            f"has to start from position 0. However, got {offsets.array[0]}"
        )
    options = scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx
    return _embedding_bag(weight, indices, offsets, *options)


publish(globals(), functions="embedding embedding_renorm_ embedding_bag")
