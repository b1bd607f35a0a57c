"""Derivatives of embeddings."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.gradients import arrays
from gradrepl.engine.ops.nn_embedding import embedding_dense_backward
from gradrepl.engine.tensor import tensor_of


@formula
def embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse):
    """Dense also where PyTorch would give a sparse tensor: the numbers are the same."""
    return embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


@arrays(embedding_backward)
def _(grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse):
    return embedding_dense_backward.declaration.forward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


@formula
def embedding_dense_double_backward(grad, indices, padding_idx):
    rows = grad.index_select(0, indices.reshape(-1)).reshape(*indices.shape, grad.shape[-1])
    if padding_idx < 0:
        return rows
    return rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


@formula
def embedding_bag_backward(
    grad, indices, offsets, bag, sizes, chosen, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx
):
    """The gradient of a bag goes to its members: whole, in equal shares, or to the largest."""
    if mode == 2:
        return to_largest(grad, chosen, num_weights)
    rows = grad.index_select(0, bag)
    if mode == 1:
        shares = 1.0 / np.maximum(sizes.array, 1)[bag.array]
        rows = rows * tensor_of(shares.astype(grad.array.dtype)[:, None])
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    return embedding_dense_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq)


def to_largest(grad, chosen, num_weights):
    out = np.zeros((num_weights, grad.shape[1]), grad.array.dtype)
    columns = np.broadcast_to(np.arange(grad.shape[1]), chosen.array.shape)
    found = chosen.array >= 0
    np.add.at(out, (chosen.array[found], columns[found]), grad.array[found])
    return tensor_of(out)


@formula
def embedding_bag_weights_backward(grad, weight, indices, bag, padding_idx):
    products = (grad.index_select(0, bag) * weight.index_select(0, indices)).sum(1)
    return products.masked_fill(indices == padding_idx, 0) if padding_idx >= 0 else products
