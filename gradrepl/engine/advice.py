"""PyTorch's warnings from C++: given once a process, with the place in its sources. Imports nothing."""

import warnings

GIVEN = set()


def warn_once(text, place, category=UserWarning):
    """Warn the first time only; `place` is file:line below ATen/native."""
    if place not in GIVEN:
        GIVEN.add(place)
        warnings.warn(f"{text} (Triggered internally at /__w/pytorch/pytorch/aten/src/ATen/native/{place}.)", category, stacklevel=3)
