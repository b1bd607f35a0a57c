"""Derivatives of pooling that run on tensors."""

from gradrepl.engine.declare import formula


@formula
def max_pool_double_backward(grad, indices, dims):
    """Where a maximum was taken from, there its second gradient is read."""
    flat = grad.reshape(*grad.shape[:-dims], -1)
    return flat.gather(-1, indices.reshape(*indices.shape[:-dims], -1)).reshape(indices.shape)
