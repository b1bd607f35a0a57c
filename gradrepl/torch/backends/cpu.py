"""torch.backends.cpu: the processor."""

__name__ = __name__.removeprefix("gradrepl.")


def get_cpu_capability():
    return "DEFAULT"
