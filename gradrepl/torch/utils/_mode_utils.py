"""torch.utils._mode_utils: helpers of who writes modes."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.utils._python_dispatch import _disable_current_modes as no_dispatch


def all_same_mode(modes):
    """Whether all of these are one mode."""
    return all([mode == modes[0] for mode in modes])
