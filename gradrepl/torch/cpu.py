"""torch.cpu: the device that is always there."""

__name__ = __name__.removeprefix("gradrepl.")


def is_available():
    return True


def device_count():
    return 1


def current_device():
    return "cpu"


def synchronize(device=None):
    """Accepted; nothing runs behind the program's back."""
