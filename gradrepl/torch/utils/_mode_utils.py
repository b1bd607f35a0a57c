"""torch.utils._mode_utils: helpers of who writes modes."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib

no_dispatch = contextlib.nullcontext  # nothing here dispatches to Python below the tensor's own functions


def all_same_mode(modes):
    """Whether all of these are one mode."""
    return all([mode == modes[0] for mode in modes])
