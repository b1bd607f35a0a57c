"""PyTorch's warnings from C++: given once a process, with the place in its sources. Imports nothing."""

import warnings

GIVEN: set[str] = set()
NATIVE = "aten/src/ATen/native/"


def warn_once(text, place, category=UserWarning):
    """Warn the first time only; `place` is file:line below ATen/native, or a path from the root of the sources."""
    if place not in GIVEN:
        GIVEN.add(place)
        warnings.warn(
            f"{text} (Triggered internally at /__w/pytorch/pytorch/{place if '/' in place else NATIVE + place}.)", category, stacklevel=3
        )
