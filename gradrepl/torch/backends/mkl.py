"""torch.backends.mkl: NumPy's BLAS does its work."""

__name__ = __name__.removeprefix("gradrepl.")


def is_available():
    return True
