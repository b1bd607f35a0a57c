"""torch.nn.attention: which way scaled_dot_product_attention takes."""

__name__ = "torch.nn.attention"

from contextlib import contextmanager
from enum import Enum

from gradrepl.engine.ops import nn_attention


class SDPBackend(Enum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


SDPBackend.__qualname__ = "_SDPBackend"


@contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Only these ways within the block: in one op (flash attention), or composed of matrix products (math)."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {type(backends).__name__}")
    allowed = {backends} if isinstance(backends, SDPBackend) else set(backends)
    before = nn_attention.Ways.one_op, nn_attention.Ways.composed
    nn_attention.Ways.one_op, nn_attention.Ways.composed = SDPBackend.FLASH_ATTENTION in allowed, SDPBackend.MATH in allowed
    try:
        yield {}
    finally:
        nn_attention.Ways.one_op, nn_attention.Ways.composed = before
