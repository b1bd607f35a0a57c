"""torch.testing.make_tensor: random tensors of any dtype."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch

RANGES = dict(u=(0, 10), i=(-9, 10), f=(-9, 9), c=(-9, 9), b=(0, 2))


def make_tensor(
    *shape,
    dtype,
    device="cpu",
    low=None,
    high=None,
    requires_grad=False,
    noncontiguous=False,
    exclude_zero=False,
    memory_format=None,
):
    """A tensor with uniform values in [low, high), by default about -9 to 9 (0 to 9 without a sign)."""
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    standard = RANGES[dtype.array.kind]
    low, high = (standard[0] if low is None else low), (standard[1] if high is None else high)
    if low >= high and not low == high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    made = filled(shape + (2,) * (noncontiguous and bool(shape)), dtype, low, high)
    if noncontiguous and shape:
        made = made[..., 0]
    if exclude_zero:
        made[made == 0] = torch.finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
    return made.requires_grad_() if requires_grad else made


def filled(shape, dtype, low, high):
    if dtype.is_complex:
        parts = torch.empty((*shape, 2), dtype=dtype.to_real()).uniform_(low, high)
        return torch.view_as_complex(parts)
    if dtype.is_floating_point:
        return torch.empty(shape, dtype=dtype).uniform_(low, high)
    return torch.randint(int(low), int(high), shape, dtype=dtype)
