"""torch.utils.benchmark.utils.compare: measurements side by side: a table for each label. Imports the measurements."""

__name__ = __name__.removeprefix("gradrepl.")

import enum
import math

from gradrepl.torch.utils.benchmark.utils.common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

BOLD, END = "\033[1m", "\033[0m"
# how many times slower than the best, and its colour
COLOURS = (1.01, "\033[92m" + BOLD), (1.1, "\033[34m" + BOLD), (2, ""), (5, "\033[2m\033[91m"), (math.inf, "\033[31m" + BOLD)
VARIED = "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"


class Colorize(enum.Enum):
    NONE, COLUMNWISE, ROWWISE = "none", "columnwise", "rowwise"


def row_of(result):
    return result.num_threads, result.env or "Unspecified env", result.as_row_name


class Table:
    """The results of one label: a row for each statement, a column for each description."""

    def __init__(self, results, colorize, trim, warn):
        self.colorize, self.trim = colorize, trim
        self.label, self.warn = results[0].label, warn and any(result.has_warnings for result in results)
        self.unit, self.scale = select_unit(min(result.median for result in results))
        self.rows = sorted(ordered_unique(map(row_of, results)), key=lambda row: row[:2])
        self.columns = ordered_unique(result.description for result in results)
        self.cells = {(row_of(result), result.description): result for result in results}
        self.forms = {column: self.form(column) for column in self.columns}

    def form(self, column):
        """(width, decimals, width of a remark) of a column's numbers."""
        found = [self.cells[row, column] for row in self.rows if (row, column) in self.cells]
        digits = [math.ceil(math.log10(result.median / self.scale)) for result in found]
        decimals = min(max(result.significant_figures - n, 0) for result, n in zip(found, digits)) if self.trim else 1
        remark = 7 if self.warn and any(result.has_warnings for result in found) else 0
        return max(digits) + decimals + (1 if decimals else 0), decimals, remark

    def shown(self, result, column):
        width, decimals, remark = self.forms[column]
        if result is None:
            return " " * (width + remark)
        value = result.median / self.scale
        value = trim_sigfig(value, result.significant_figures) if self.trim else value
        spread = f" (! {result.iqr / result.median * 100:.0f}%)" if remark and result.has_warnings else ""
        return f"{value:>{width}.{decimals}f}" + f"{spread:>{remark}}"

    def coloured(self, text, result, row, column):
        if self.colorize is Colorize.NONE or result is None:
            return text
        if self.colorize is Colorize.ROWWISE:
            rivals = [(row, column) for column in self.columns]
        else:
            rivals = [(other, column) for other in self.rows if other[0] == row[0]]
        best = min(self.cells[place].median for place in rivals if place in self.cells)
        factor = 1 if result.median <= best + 100e-9 else result.median / best
        colour = next(colour for limit, colour in COLOURS if factor <= limit)
        return f"{colour}{text}{END}{END}" if colour else text

    def row_title(self, row, before):
        envs = {env for _, env, _ in self.rows}
        if len(envs) == 1:
            return f"      {row[2]}"
        told = f"({row[1]})" if before is None or before[:2] != row[:2] else ""
        return f"  {told:<{max(map(len, envs)) + 4}}{row[2]}"

    def render(self):
        befores = [None, *self.rows]
        lines = [[self.row_title(row, before), *[self.shown(self.cells.get((row, c)), c) for c in self.columns]]
                 for row, before in zip(self.rows, befores)]  # fmt: skip
        head = ["", *[column or "" for column in self.columns]]
        widths = [max(map(len, cells)) for cells in zip(head, *lines)]
        text = ["  |  ".join(cell.center(width) for cell, width in zip(head, widths))]
        whole = len(text[0])
        for row, before, cells in zip(self.rows, befores, lines):
            if before is None or before[0] != row[0]:
                text.append(f"{row[0]} threads: ".ljust(whole, "-"))
            places = zip(cells[1:], widths[1:], self.columns)
            numbers = [self.coloured(cell.center(width), self.cells.get((row, c)), row, c) for cell, width, c in places]
            text.append("  |  ".join([cells[0].ljust(widths[0]), *numbers]))
        title = f"[{f' {self.label or str()} '.center(whole - 2, '-')}]"
        times = f"\nTimes are in {unit_to_english(self.unit)}s ({self.unit}).\n"
        return "\n".join([title, *text, times]) + (VARIED if self.warn else "")


class Compare:
    """Measurements, to be printed as tables."""

    def __init__(self, results):
        self._results: list = []
        self._trim, self._colorize, self._warn = False, Colorize.NONE, False
        self.extend_results(results)

    def extend_results(self, results):
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        self._trim = True

    def colorize(self, rowwise=False):
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self):
        self._warn = True

    def __str__(self):
        groups: dict = {}
        for result in Measurement.merge(self._results):
            groups.setdefault(result.label, []).append(result)
        return "\n".join(Table(group, self._colorize, self._trim, self._warn).render() for group in groups.values())

    def print(self):
        print(str(self))
