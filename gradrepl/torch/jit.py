"""torch.jit: questions about a compiler that is not there."""

__name__ = __name__.removeprefix("gradrepl.")


def is_scripting():
    return False


def is_tracing():
    return False


def ignore(drop=False, **kwargs):
    return drop if callable(drop) else lambda function: function


unused = export = ignore


def script(obj, *args, **kwargs):
    raise NotImplementedError("the embedded engine has no torch.jit.script")


def trace(func, *args, **kwargs):
    raise NotImplementedError("the embedded engine has no torch.jit.trace")
