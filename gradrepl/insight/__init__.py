"""Questions about a graph: explain, step, why, check, saved, diff. Each gives plain data that prints itself, and changes nothing.

Where `torch` is the installed PyTorch, it is watched from the first question on: its own graph does not tell which line made a node.
"""

import importlib

from gradrepl.insight.observer import observe

_HOMES = {name: f"gradrepl.insight.{name}" for name in ("explain", "step", "why", "check", "saved", "diff")}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value  # not the module of the same name
    return value


observe()
