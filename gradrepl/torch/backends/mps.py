"""torch.backends.mps: there is none."""

__name__ = __name__.removeprefix("gradrepl.")


def is_available():
    return False


def is_built():
    return False


def is_macos13_or_newer(minor=0):
    return False
