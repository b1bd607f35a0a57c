"""torch.utils.benchmark.utils.common: what was measured, and the statistics of it. Imports NumPy only."""

__name__ = __name__.removeprefix("gradrepl.")

import dataclasses
import functools
import math
import textwrap

import numpy as np

UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1, "second")}
MOST_FIGURES, LEAST_INTERVAL = 4, 25e-9
ADVICE = (0.25, "This suggests significant environmental influence."), (0.1, "This could indicate system fluctuation.")


@dataclasses.dataclass(repr=False, frozen=True)
class TaskSpec:
    """The statement, and what it is called."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self):
        if self.label is None and "\n" in self.stmt:
            return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"
        return (self.stmt if self.label is None else self.label) + (f": {self.sub_label}" if self.sub_label else "")

    def setup_str(self):
        if not self.setup or self.setup == "pass":
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self):
        parts = [part for part in (self.title, self.description or "", self.setup_str()) if part]
        return "\n".join(f"{part}\n" if "\n" in part else part for part in parts)


@dataclasses.dataclass(repr=False)
class Measurement:
    """Times of a statement, each over `number_per_run` runs."""

    number_per_run: int
    raw_times: list
    task_spec: TaskSpec
    metadata: dict | None = None

    def __getattr__(self, name):
        if name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute {name!r}")

    @property
    def times(self):
        return [time / self.number_per_run for time in self.raw_times]

    @functools.cached_property
    def quartiles(self):
        return np.quantile(self.times, (0.25, 0.5, 0.75)).tolist()

    median = property(lambda self: self.quartiles[1])
    mean = property(lambda self: float(np.mean(self.times)))
    iqr = property(lambda self: self.quartiles[2] - self.quartiles[0])
    title = property(lambda self: self.task_spec.title)
    as_row_name = property(lambda self: self.sub_label or self.stmt or "[Unknown]")
    has_warnings = property(lambda self: bool(self.warning))

    def meets_confidence(self, threshold=0.1):
        return self.iqr / self.median < threshold

    @property
    def warning(self):
        for threshold, advice in ADVICE:
            if not self.meets_confidence(threshold):
                share = f"{self.iqr / self.median * 100:.1f}%"
                return f"  WARNING: Interquartile range is {share} of the median measurement.\n           {advice}"
        return ""

    @property
    def significant_figures(self):
        """How many digits of the median the times between the quartiles support."""
        count = len(self.times)
        inner = sorted(self.times)[count // 4 : math.ceil(3 * count / 4)]
        interval = max(1.645 * float(np.std(inner)) / math.sqrt(len(inner)), LEAST_INTERVAL)
        return min(max(math.floor(math.log10(self.median / interval)), 1), MOST_FIGURES)

    def __repr__(self):
        unit, scale = select_unit(self.median)
        low, middle, high = (quartile / scale for quartile in self.quartiles)
        count, several = len(self.times), len(self.times) > 1
        lines = [object.__repr__(self), self.task_spec.summarize(), f"  {'Median: ' * several}{middle:.2f} {unit}"]
        if count >= 4:
            lines.append(f"  IQR:    {high - low:.2f} {unit} ({low:.2f} to {high:.2f})")
        runs, threads = f"{self.number_per_run} runs {'per measurement,' if several else ','}", self.num_threads
        lines.append(f"  {count} measurement{'s' * several}, {runs} {threads} thread{'s' * (threads > 1)}")
        return "\n".join([*lines, self.warning]).strip()

    @staticmethod
    def merge(measurements):
        """One measurement for each task, of all times."""
        found: dict = {}
        for measurement in measurements:
            found.setdefault(measurement.task_spec, []).extend(measurement.times)
        return [Measurement(1, times, task) for task, times in found.items()]


def select_unit(t):
    power = int(math.log10(t) // 3)
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(power, "s")
    return unit, UNITS[unit][0]


def unit_to_english(u):
    return UNITS[u][1]


def trim_sigfig(x, n):
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements):
    return list(dict.fromkeys(elements))
