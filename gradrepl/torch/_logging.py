"""torch._logging: what this engine has a log of, which is what a backward runs."""

__name__ = __name__.removeprefix("gradrepl.")

import logging
import os

from gradrepl.engine.logs import ALL, AREA

LEVELS = logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG, logging.NOTSET
WRONG = "Unrecognized log level for log {}: {}, valid level values are: " + ",".join(map(str, LEVELS))


def set_logs(*, all=None, autograd=None, **others):
    """Set the levels of the logs, those that are not named back to what they were. This engine has none of the `others`."""
    for name, level in (("torch", all), ("autograd", autograd)):
        if level is not None and level not in LEVELS:
            raise ValueError(WRONG.format(name, level))
    ALL.setLevel(logging.WARNING if all is None else all)
    AREA.setLevel(logging.NOTSET if autograd is None else autograd)


asked = os.environ.get("TORCH_LOGS", "").replace(" ", "").split(",")  # TORCH_LOGS=+autograd
if "+autograd" in asked or "+all" in asked:
    set_logs(autograd=logging.DEBUG)
