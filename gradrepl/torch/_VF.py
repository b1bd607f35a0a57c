"""torch._VF: functions by their C++ names, past the Python ones that wrap them."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch


def __getattr__(name):
    return getattr(torch, name)
