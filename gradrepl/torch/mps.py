"""torch.mps: a CPU build has none."""

__name__ = __name__.removeprefix("gradrepl.")


def is_available():
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Accepted; there is no MPS generator to seed."""


def empty_cache():
    """Accepted; there is no MPS memory."""
