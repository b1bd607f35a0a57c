"""torch.autograd.grad_mode."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.modes import _Mode, enable_grad, here, inference_mode, no_grad, set_grad_enabled

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "set_multithreading_enabled", "enforce_grad_layout_policy"]


def is_multithreading_enabled():
    return here.multithreading


class _Setting(_Mode):
    """Sets a flag of this thread at once; leaving `with` sets it back."""

    flag = ""

    def __init__(self, mode):
        self.prev, self.mode = getattr(here, self.flag), mode
        setattr(here, self.flag, mode)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        setattr(here, self.flag, self.prev)

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
