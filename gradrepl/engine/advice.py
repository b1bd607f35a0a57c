"""PyTorch's warnings: they point at the program's own line, however deep the engine is in its frames. Imports nothing."""

import os
import sys
import warnings

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
GIVEN: set[str] = set()
NATIVE = "aten/src/ATen/native/"


class Always:
    """Whether `torch.set_warn_always` asked for every warning each time."""

    on = False


def warn(text, category=UserWarning):
    """Warn at the first line up the stack that is neither in this package nor in a function written for an op."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and is_inside(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def is_inside(filename):
    return filename.startswith(PACKAGE) or filename.startswith("<") and " " in filename


def warn_once(text, place, category=UserWarning):
    """Warn the first time only, as PyTorch does from C++; `place` is file:line below ATen/native, or a path from the sources' root."""
    if place not in GIVEN or Always.on:
        GIVEN.add(place)
        warn(f"{text} (Triggered internally at /__w/pytorch/pytorch/{place if '/' in place else NATIVE + place}.)", category)
