"""torch.distributed as in a build without it: it says that it is not available, and whatever else is asked of it is an error."""

__name__ = __name__.removeprefix("gradrepl.")


def is_available():
    return False


def is_initialized():
    return False


def __getattr__(name):
    raise AttributeError(f"the embedded engine runs in one process, and has no torch.distributed.{name}")
