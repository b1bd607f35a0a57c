"""Times for %time and %timeit. Imports the standard library only."""

import statistics
import timeit
from typing import Any

ROUNDS = 7
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def duration(seconds: float) -> str:
    """Three digits and a unit.

    >>> duration(0.00123)
    '1.23 ms'
    """
    scale, unit = next(((scale, unit) for scale, unit in UNITS if seconds >= scale), UNITS[-1])
    return f"{seconds / scale:.3g} {unit}"


def timed(statement: str, namespace: dict[str, Any]) -> str:
    """Time a statement as `timeit` does, with as many loops as take a fifth of a second."""
    timer = timeit.Timer(statement, globals=namespace)
    loops, _ = timer.autorange()
    times = [seconds / loops for seconds in timer.repeat(ROUNDS, loops)]
    spread = statistics.stdev(times)
    return f"{duration(statistics.mean(times))} ± {duration(spread)} per loop ({ROUNDS} rounds of {loops:,} loop{'s' * (loops != 1)})"
