"""torch.utils.benchmark.utils.timer: statements timed as Python's timeit does it, after a warm-up. Imports the measurements."""

__name__ = __name__.removeprefix("gradrepl.")

import enum
import statistics
import textwrap
import timeit

from gradrepl import torch
from gradrepl.torch.utils.benchmark.utils.common import Measurement, TaskSpec

timer = timeit.default_timer
MOST_RUNS = 2147483647


class Language(enum.Enum):
    PYTHON, CPP = 0, 1


class Timer:
    """Times a statement."""

    def __init__(
        self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None, description=None, env=None,
        num_threads=1, language=Language.PYTHON,
    ):  # fmt: skip
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError("the embedded engine times Python statements only")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        names = {"torch": torch, **(globals or {})}
        stmt, setup = (textwrap.dedent(text).strip() for text in (stmt, setup))
        self._timer = timeit.Timer(stmt=stmt, setup=setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number):
        return max(self._timer.timeit(number), 1e-9)

    def measured(self, number, times):
        return Measurement(number, times, self._task_spec)

    def timeit(self, number=1000000):
        """One time, of so many runs."""
        self._timeit(max(number // 100, 2))
        return self.measured(number, [self._timeit(number)])

    def repeat(self, repeat=-1, number=-1):
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback=None):
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def block_size(self, min_run_time):
        """As many runs as make the clock's own time negligible."""
        overhead, number = statistics.median(self._timeit(0) for _ in range(5)), 1
        while True:
            taken = self._timeit(number)
            enough = overhead / taken <= 1e-4 and taken >= min_run_time / 1000
            if enough or taken > min_run_time or number * 10 > MOST_RUNS:
                return number
            number *= 10

    def times(self, number, done, callback):
        found: list = []
        while not done(found):
            found.append(self._timeit(number))
            if callback:
                callback(number, found[-1])
        return found

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Blocks of runs until `min_run_time` is over."""
        number = self.block_size(min_run_time)
        return self.measured(number, self.times(number, lambda times: bool(times) and sum(times) >= min_run_time, callback))

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Blocks of runs until their spread is below `threshold`, or `max_run_time` is over."""
        number = self.block_size(0.05)

        def done(times):
            steady = len(times) > 3 and self.measured(number, times).meets_confidence(threshold)
            return sum(times) >= min_run_time and steady or bool(max_run_time) and sum(times) > max_run_time

        return self.measured(number, self.times(number, done, callback))

    def collect_callgrind(self, *args, **kwargs):
        raise NotImplementedError("the embedded engine has no Timer.collect_callgrind")
