"""torch.utils._python_dispatch: modes that see every operation below autograd."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib

from gradrepl.engine import dispatch
from gradrepl.torch._ops import OpOverload, ops


class _Called(OpOverload):
    """An operation in the middle of a call: equal to the one in torch.ops, and run as it was called."""

    def __init__(self, packet, overload, run):
        super().__init__(packet, overload)
        self._run = run

    def __call__(self, /, *args, **kwargs):
        return self._run(self, *args, **kwargs)


def _operation(name, form, run):
    return _Called(ops.aten._packet(name), form, run)


class TorchDispatchMode:
    """Override `__torch_dispatch__(func, types, args, kwargs)` to see the operations that run inside `with`, and to answer them."""

    def __init__(self, _dispatch_key=None):
        pass

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        dispatch.push(self, _operation)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        dispatch.pop()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    """Runs everything as it is."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **kwargs or {})


def _get_current_dispatch_mode():
    return dispatch.modes()[-1] if dispatch.modes() else None


def _get_current_dispatch_mode_stack():
    return list(dispatch.modes())


@contextlib.contextmanager
def _disable_current_modes():
    """No mode sees what runs inside."""
    off = dispatch.modes()[:]
    dispatch.modes().clear()
    try:
        yield off
    finally:
        dispatch.modes().extend(off)


@contextlib.contextmanager
def _pop_mode_temporarily(k=None):
    """The innermost mode does not see what runs inside."""
    mode = dispatch.modes().pop()
    try:
        yield mode
    finally:
        dispatch.modes().append(mode)


def is_in_torch_dispatch_mode(include_infra_modes=True):
    return bool(dispatch.modes())


def is_traceable_wrapper_subclass(t):
    """Whether a tensor wraps others and can be taken apart."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
