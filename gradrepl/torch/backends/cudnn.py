"""torch.backends.cudnn: there is none."""

__name__ = __name__.removeprefix("gradrepl.")

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True


def is_available():
    return False


def version():
    return None
