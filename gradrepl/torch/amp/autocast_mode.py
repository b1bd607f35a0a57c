"""torch.amp.autocast: a block in which products would run in a lower precision, and what may be asked about it."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib
import functools
import warnings

from gradrepl import torch

NOT_TEXT = "Expected `device_type` of type `str`, got: `{}`"


def check_device(device_type):
    if not isinstance(device_type, str):
        raise ValueError(NOT_TEXT.format(type(device_type)))
    return torch.device(device_type).type


class autocast(contextlib.ContextDecorator):
    """Switched off without CUDA, as in PyTorch; on the CPU it needs bfloat16, which the embedded engine has no tensors of."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        check_device(device_type)
        if device_type == "cuda" and enabled:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", UserWarning, stacklevel=2)
            enabled = False
        self.device, self.enabled = device_type, enabled
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype

    def __enter__(self):
        if self.enabled:
            raise NotImplementedError(
                f"the embedded engine has no torch.autocast({self.device!r}): its products run in the tensors' precision"
            )
        return self

    def __exit__(self, *_):
        return False


def is_autocast_available(device_type):
    check_device(device_type)
    return True


def is_autocast_enabled(device_type="cuda"):
    check_device(device_type)
    return False


def is_autocast_cpu_enabled():
    return False


def is_autocast_cache_enabled():
    return True


def get_autocast_dtype(device_type):
    """The dtype that autocast would take where none is given."""
    return torch.bfloat16 if check_device(device_type) in ("cpu", "xpu", "hpu", "xla") else torch.float16


def get_autocast_cpu_dtype():
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype():
    return get_autocast_dtype("cuda")


def clear_autocast_cache():
    """Accepted; nothing is kept."""


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """A decorator for the forward of a Function that is to be used under autocast."""
    if not isinstance(device_type, str):
        raise ValueError(NOT_TEXT.format(type(device_type)))
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        ctx._dtype, ctx._fwd_used_autocast = get_autocast_dtype(device_type), False
        return fwd(ctx, *args, **kwargs)

    return forward


def custom_bwd(bwd=None, *, device_type):
    """A decorator for the backward that belongs to it."""
    if not isinstance(device_type, str):
        raise ValueError(NOT_TEXT.format(type(device_type)))
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd
