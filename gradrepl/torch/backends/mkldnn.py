"""torch.backends.mkldnn: NumPy does its work."""

__name__ = __name__.removeprefix("gradrepl.")

enabled, allow_tf32 = True, True


def is_available():
    return True
