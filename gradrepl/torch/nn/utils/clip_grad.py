"""torch.nn.utils.clip_grad: gradients made smaller before a step."""

__name__ = __name__.removeprefix("gradrepl.")

import types
import warnings

from gradrepl import torch
from gradrepl.engine.tensor import Tensor

NON_FINITE = (
    "The total norm of order {} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale "
    "the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
)


def listed(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors as one vector."""
    with torch.no_grad():
        norms = [torch.linalg.vector_norm(tensor, float(norm_type)) for tensor in listed(tensors)]
        if not norms:
            return torch.tensor(0.0)
        total = torch.linalg.vector_norm(torch.stack(norms), float(norm_type))
        if error_if_nonfinite and bool(torch.logical_or(total.isnan(), total.isinf())):
            raise RuntimeError(NON_FINITE.format(float(norm_type)))
        return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients so that their norm is at most `max_norm`."""
    with torch.no_grad():
        scale = torch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for parameter in listed(parameters):
            if parameter.grad is not None:
                parameter.grad.mul_(scale)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    is_generator = isinstance(parameters, types.GeneratorType)
    parameters = listed(parameters)
    if is_generator and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3)
    total = get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    warnings.warn(
        "torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.", FutureWarning, stacklevel=2
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters, clip_value, foreach=None):
    with torch.no_grad():
        for parameter in listed(parameters):
            if parameter.grad is not None:
                parameter.grad.clamp_(min=-float(clip_value), max=float(clip_value))
