"""Put off Python's garbage collection while much is made and nothing thrown away. Imports nothing of the project."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 100_000  # objects; after a smaller walk the collector goes on as ever


@contextmanager
def collection_paused() -> Iterator[None]:
    """Put off garbage collection: looking at what was just made takes a third of the time of a large walk."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            count_as_old()
            gc.enable()


def count_as_old() -> None:
    """Spare what was just made, if that is much, the first look: a tenth of the time of a large walk.

    What is frozen and thawed is with the old objects, as if it had been looked at: the next full collection finds what is garbage by then.
    """
    if gc.get_count()[0] > MANY and not gc.get_freeze_count():  # what the program froze stays frozen
        gc.freeze()
        gc.unfreeze()
