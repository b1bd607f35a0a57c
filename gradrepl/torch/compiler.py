"""torch.compiler: questions about a compiler that is not there."""

__name__ = __name__.removeprefix("gradrepl.")


def is_compiling():
    return False


def is_dynamo_compiling():
    return False


def is_exporting():
    return False


def disable(fn=None, recursive=True, *, reason=None):
    """The function itself: nothing would compile it."""
    return fn if fn is not None else disable


def reset():
    """Accepted; there is nothing to reset."""


def list_backends(exclude_tags=("debug", "experimental")):
    return ["cudagraphs", "inductor", "openxla", "tvm"]
