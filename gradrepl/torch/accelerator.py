"""torch.accelerator: there is none."""

__name__ = __name__.removeprefix("gradrepl.")

NONE = "Cannot access accelerator device when none is available."


def is_available():
    return False


def device_count():
    return 0


def current_accelerator(check_available=False):
    return None


def current_device_index():
    raise RuntimeError(NONE)


def synchronize(device=None):
    raise RuntimeError(NONE)
