"""Measurements as they show, tables of them, and a timer that counts what it should."""

import re

import torch
import torch.utils.benchmark as benchmark
from torch.utils.benchmark import Compare, Measurement, Timer


def measured(times, runs=10, stmt="f(x)", setup="pass", **names):
    return Measurement(runs, times, benchmark.TaskSpec(stmt=stmt, setup=setup, **names))


for m in (
    measured([1.23e-4]),
    measured([1.2e-4, 1.3e-4, 1.25e-4, 1.21e-4, 1.9e-4]),
    measured([1e-3] * 4, label="softmax", sub_label="rows", description="float", num_threads=2),
    measured([5e-5, 1e-4, 3e-4, 6e-4], stmt="a = 1\nb = 2", setup="import math\nimport os"),
    measured([2e-3, 2.2e-3, 2.05e-3, 2.6e-3, 2.5e-3], sub_label="second", setup="z = 1"),
):
    print(re.sub("0x[0-9a-f]+", "0x", repr(m)))
    print(f"{m.median:.6g} {m.iqr:.6g}", m.significant_figures, m.has_warnings, m.as_row_name, m.title)
cells = (1, "2x2", "mul", 1), (2.1, "2x2", "bmm", 1), (30, "64x64", "mul", 1), (3.05, "64x64", "bmm", 1), (1.5, "2x2", "mul", 4), (9, "64x64", "bmm", 4)
compare = Compare(
    [
        measured([time * 1e-4 * (1 + i / 50) for i in range(6)], label="products", sub_label=size, description=op, num_threads=threads)
        for time, size, op, threads in cells
    ]
)
print(compare)
compare.trim_significant_figures()
compare.print()
for rowwise in False, True:
    compare.colorize(rowwise=rowwise)
    print(repr(str(compare)))
compare.extend_results([measured([1e-4, 2e-4, 3e-4], label="products", sub_label="2x2", description="bmm", num_threads=4)])
compare.highlight_warnings()
print(compare)
print(benchmark.select_unit(1e-5), benchmark.select_unit(3), benchmark.trim_sigfig(123.456, 2), benchmark.unit_to_english("ms"))

calls = []
timer = Timer("calls.append(x)", setup="x = 1 + 1", globals=dict(calls=calls), label="counting")
print(len(timer.timeit(50).times), len(calls), calls[0])
for m in timer.blocked_autorange(min_run_time=0.01), timer.adaptive_autorange(min_run_time=0.01):
    print(type(m), sum(m.raw_times) >= 0.01, m.label, m.num_threads)
for refused in lambda: Compare([3]), lambda: timer.repeat(), lambda: Timer("1", global_setup="int a;"), lambda: Timer(torch.ones(1)):
    try:
        print(refused())
    except Exception as e:
        print(type(e).__name__, e)
