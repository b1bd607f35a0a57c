"""torch.autograd.forward_ad: tensors that carry a tangent."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.forward import UnpackedDualTensor, enter_level, exit_level, set_enabled
from gradrepl.engine.forward import make_dual as _make_dual
from gradrepl.engine.forward import unpack_dual as _unpack_dual
from gradrepl.engine.modes import _Mode, here

__all__ = ["UnpackedDualTensor", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual", "dual_level"]


def __getattr__(name):
    if name == "_current_level":
        return -1 if here.level is None and here.paused is None else 0
    raise AttributeError(f"module 'torch.autograd.forward_ad' has no attribute {name!r}")


def enter_dual_level():
    """Open a level of forward mode and give its number."""
    return enter_level()


def exit_dual_level(*, level=None):
    """Close it; tangents are gone."""
    exit_level(level)


def make_dual(tensor, tangent, *, level=None):
    """A tensor that carries `tangent`."""
    return _make_dual(tensor, tangent)


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a tensor; the tangent is None if it carries none."""
    return _unpack_dual(tensor)


class dual_level(_Mode):
    """Forward mode is on inside."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *args):
        exit_dual_level()


def _is_fwd_grad_enabled():
    return here.forward


class _set_fwd_grad_enabled(_Mode):
    """Whether ops carry tangents on; takes effect at once."""

    def __init__(self, mode):
        self.mode, self.before = mode, here.forward
        set_enabled(mode)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        set_enabled(self.before)
