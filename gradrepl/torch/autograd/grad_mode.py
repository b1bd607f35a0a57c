"""torch.autograd.grad_mode."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.modes import _Mode, enable_grad, here, inference_mode, no_grad, set_grad_enabled
from gradrepl.engine.replay import is_view_replay_enabled, set_view_replay_enabled
from gradrepl.engine.tensor import Tensor
from gradrepl.engine.views import set_versions

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "set_multithreading_enabled", "enforce_grad_layout_policy"]


def is_multithreading_enabled():
    return here.multithreading


def _enter_inference_mode(mode):
    """An inference_mode that is entered, for who will leave it by hand."""
    context = inference_mode(mode)
    context.__enter__()
    return context


def _exit_inference_mode(mode):
    mode.__exit__(None, None, None)


class _Setting(_Mode):
    """Sets a flag of this thread at once; leaving `with` sets it back."""

    flag = ""

    def __init__(self, mode):
        self.prev, self.mode = self.get(), mode
        self.set(mode)

    def get(self):
        return getattr(here, self.flag)

    def set(self, mode):
        setattr(here, self.flag, mode)

    def __enter__(self):
        self.set(self.mode)

    def __exit__(self, *args):
        self.set(self.prev)

    def __call__(self, function):
        self.__exit__()
        return super().__call__(function)

    def clone(self):
        return type(self)(self.mode)


class set_multithreading_enabled(_Setting):
    """Whether backward may use threads; the CPU's part of it never does."""

    flag = "multithreading"


class enforce_grad_layout_policy(_Setting):
    """Whether a leaf's first gradient takes the leaf's own strides."""

    flag = "grad_layout_policy"


class _force_original_view_tracking(_Setting):
    """Whether views made from here on are, once their base was written, shown as made by the ops that made them, or by as_strided."""

    get = staticmethod(is_view_replay_enabled)
    set = staticmethod(set_view_replay_enabled)


class _unsafe_preserve_version_counter(_Mode):
    """Writes inside `with` to these tensors are not counted."""

    def __init__(self, tensors):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.prev_versions = tuple([tensor._version for tensor in self.tensors])

    def __enter__(self):
        pass

    def __exit__(self, *args):
        set_versions(self.tensors, self.prev_versions)
