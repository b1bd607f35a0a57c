"""torch.xpu: a CPU build has none."""

__name__ = __name__.removeprefix("gradrepl.")


def is_available():
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Accepted; there is no XPU generator to seed."""


manual_seed_all = manual_seed


def empty_cache():
    """Accepted; there is no XPU memory."""


def current_device():
    raise AssertionError("Torch not compiled with XPU enabled")
