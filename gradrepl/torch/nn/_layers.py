"""torch.nn.functional's normalisation, dropout, embeddings and affine maps, on the engine's ops; functional.py shows them."""

__name__ = "torch.nn.functional"

import gradrepl.engine.nn
from gradrepl import torch
from gradrepl.engine.advice import warn
from gradrepl.engine.ops import nn_embedding as tables
from gradrepl.engine.ops import nn_normalization as ops
from gradrepl.engine.ops.nn_linear import bilinear, linear
from gradrepl.torch.nn._windows import avg_pool2d, avg_pool3d, pad

# ---- normalisation


def _verify_batch_size(size):
    count = size[0]
    for n in size[2:]:
        count *= n
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        _verify_batch_size(input.size())
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return ops.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    if use_input_stats and input.numel() and all(n == 1 for n in input.shape[2:]):
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return ops.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    _verify_batch_size([input.size(0) * input.size(1) // max(num_groups, 1), num_groups, *input.shape[2:]])
    return ops.group_norm(input, num_groups, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return ops.rms_norm(input, normalized_shape, weight, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divide by a power of the mean of squares over neighbouring channels."""
    dim = input.dim()
    if dim < 3:
        gap = " " * 25
        raise ValueError(f"Expected 3D or higher dimensionality{gap} input (got {dim} dimensions)")
    if input.numel() == 0:
        return input
    border, squares = (size // 2, (size - 1) // 2), input.mul(input)
    if dim == 3:
        squares = pad(squares.unsqueeze(1), (0, 0, *border))
        squares = avg_pool2d(squares, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        squares = squares.view(sizes[0], 1, sizes[1], sizes[2], -1)
        squares = pad(squares, (0, 0, 0, 0, *border))
        squares = avg_pool3d(squares, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / squares.mul(alpha).add(k).pow(beta)


# ---- dropout


def check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    check_probability(p)
    return (ops.dropout_ if inplace else ops.dropout)(input, p, training)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    check_probability(p)
    return (ops.alpha_dropout_ if inplace else ops.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    check_probability(p)
    return (ops.feature_alpha_dropout_ if inplace else ops.feature_alpha_dropout)(input, p, training)


def dropout_channels(input, p, training, inplace, batched):
    run = ops.feature_dropout_ if inplace else ops.feature_dropout
    return run(input, p, training) if batched else run(input.unsqueeze(0), p, training).squeeze(0)


def dropout1d(input, p=0.5, training=True, inplace=False):
    check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide channel-wise "
            "dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return dropout_channels(input, p, training, inplace, input.dim() == 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    check_probability(p)
    if input.dim() not in (3, 4):
        warn_dims("dropout2d", input.dim(), "(i.e. 3D or 4D inputs)", 2)
    if input.dim() == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
            "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch "
            "to using dropout1d instead.",
        )
    return dropout_channels(input, p, training, inplace, True)


def dropout3d(input, p=0.5, training=True, inplace=False):
    check_probability(p)
    if input.dim() not in (4, 5):
        warn_dims("dropout3d", input.dim(), "(i.e. 4D or 5D inputs)", 3)
    return dropout_channels(input, p, training, inplace, input.dim() == 5)


def warn_dims(name, dims, wanted, spatial):
    warn(
        f"{name}: Received a {dims}-D input to {name}, which is deprecated and will result in an error in a future release. To retain the "
        f"behavior and silence this warning, please use dropout instead. Note that {name} exists to provide channel-wise dropout on inputs "
        f"with {spatial} spatial dimensions, a channel dimension, and an optional batch dimension {wanted}.",
    )


# ---- tables


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if padding_idx is not None:
        if not -weight.size(0) <= padding_idx < weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= weight.size(0)
    else:
        padding_idx = -1
    if max_norm is not None:
        tables.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return tables.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    if weight.dtype == torch.long and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and "
            "should now be `embedding_bag(input, weight, ...)`.",
        )
        weight, input = input, weight
    check_bag(input, weight, offsets, per_sample_weights, mode, scale_grad_by_freq, sparse)
    if input.dim() == 2:
        offsets = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype)
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if max_norm is not None:
        tables.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    options = scale_grad_by_freq, tables.MODES[mode], sparse, per_sample_weights, include_last_offset, padding_idx
    return tables.embedding_bag(weight, input, offsets, *options)[0]


def check_bag(input, weight, offsets, per_sample_weights, mode, scale_grad_by_freq, sparse):
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is "
            f"not None, then it must have the same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found "
            f"offsets of type {type(offsets)}"
        )
    if input.dim() not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if input.dim() == 1 and not isinstance(offsets, torch.Tensor):
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if input.dim() == 1 and offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if mode not in tables.MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode="
            f"'{mode}'). Please open a feature request on GitHub."
        )


def one_hot(tensor, num_classes=-1):
    """Rows of zeros with a one at the index."""
    if tensor.payload.dtype.name != "int64":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.numel() == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if tensor.numel() and int(tensor.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(tensor.max()) + 1
    elif tensor.numel() and int(tensor.max()) >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    rows = torch.empty(*tensor.shape, num_classes, dtype=torch.long).zero_()
    return rows.scatter_(-1, tensor.unsqueeze(-1), 1)
