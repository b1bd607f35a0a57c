"""check(f, *inputs): the analytic derivative against a numeric one, entry by entry, with a hint where they differ.

Imports numerals, observer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.protocol import is_tensor
from gradrepl.graphs.roots import repr_of, tensors_in
from gradrepl.insight.history import HISTORY
from gradrepl.insight.numerals import array_of, number
from gradrepl.insight.observer import engine_of

# dtype of the input -> (step of the differences, relative tolerance, absolute tolerance)
TOLERANCES = {"float64": (1e-6, 1e-4, 1e-6), "complex128": (1e-6, 1e-4, 1e-6), "float32": (1e-2, 5e-2, 2e-2)}
MOST_ENTRIES = 12  # that are printed
MOST_SIDES = 100  # entries up to which both sides are looked at where all is well


@dataclass(frozen=True)
class Entry:
    """One entry of a Jacobian in which the two disagree."""

    output: tuple[int, ...]
    input: tuple[int, ...]
    analytic: Any
    numeric: Any


@dataclass(frozen=True)
class Comparison:
    """The derivative of one output with respect to one input, both ways."""

    order: int
    output: int
    input: int
    analytic: Any  # array, output shape + input shape
    numeric: Any
    wrong: tuple[Entry, ...]
    hint: str = ""

    @property
    def ok(self) -> bool:
        return not self.wrong


@dataclass(frozen=True)
class Check:
    """What was compared. True if everything agrees."""

    comparisons: tuple[Comparison, ...]
    note: str = ""

    @property
    def ok(self) -> bool:
        return all(comparison.ok for comparison in self.comparisons)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [line for comparison in self.comparisons for line in told(comparison, len(self.comparisons) > 1)]
        return "\n".join(lines + [self.note] * bool(self.note))

    __repr__ = __str__

    def __rich__(self) -> Any:
        from rich.text import Text

        text = Text()
        for line in str(self).split("\n"):
            style = (
                "green"
                if "agree" in line and "disagree" not in line
                else "bold red"
                if "disagree" in line
                else "yellow"
                if line.startswith("  hint")
                else ""
            )
            text.append(line + "\n", style=style)
        text.rstrip()
        return text


def told(comparison: Comparison, several: bool) -> list[str]:
    """The lines for one comparison: agreed, or the entries that differ, and the hint."""
    derivative = "derivative" if comparison.order == 1 else "second derivative"
    which = f" of output {comparison.output} by input {comparison.input}" if several else ""
    size = np.size(comparison.analytic)
    if comparison.ok:
        worst = float(np.max(np.abs(comparison.analytic - comparison.numeric))) if size else 0.0
        agreed = (
            f"{derivative}{which}: {'the entry agrees' if size == 1 else f'all {size} entries agree'} (largest difference {number(worst)})"
        )
        return [agreed] + ([f"  note: {comparison.hint}"] if comparison.hint else [])
    lines = [f"{derivative}{which}: {len(comparison.wrong)} of {size} entries disagree"]
    for wrong in comparison.wrong[:MOST_ENTRIES]:
        place = f"d out{list(wrong.output) or ''} / d in{list(wrong.input) or ''}"
        lines.append(f"  {place}: analytic {number(wrong.analytic)}, numeric {number(wrong.numeric)}")
    if len(comparison.wrong) > MOST_ENTRIES:
        lines.append(f"  … and {len(comparison.wrong) - MOST_ENTRIES} more")
    return lines + ([f"  hint: {comparison.hint}"] if comparison.hint else [])


def check(f: Callable, *inputs: Any, order: int = 1) -> Check:
    """Compare the gradient that autograd computes for `f(*inputs)` with numeric differences, entry by entry.

    Inputs that require grad and are of floating point are varied. With `order=2` the second derivatives are compared too. Use float64:
    in float32 the differences are too coarse, and only large errors are seen.

    >>> from gradrepl import torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> check(torch.sin, x).ok
    True
    """
    since = HISTORY.now
    try:
        return Check(tuple(compared(f, inputs, order)), precision_note(inputs))
    finally:
        HISTORY.rewind(since)


def compared(f: Callable, inputs: tuple, order: int) -> Any:
    varied = [i for i, x in enumerate(inputs) if is_tensor(x) and x.requires_grad and (x.is_floating_point() or x.is_complex())]
    if not varied:
        raise GraphError("nothing to check: no input is a floating-point tensor that requires grad")
    leaves = [x.detach().clone().requires_grad_() if is_tensor(x) and x.requires_grad else x for x in inputs]
    engine = Engine(leaves[varied[0]])
    yield from engine.compare(f, leaves, varied, 1)
    if order > 1:
        yield from engine.compare(engine.derivative_of(f, varied), leaves, varied, 2)


def precision_note(inputs: tuple) -> str:
    single = [x for x in inputs if is_tensor(x) and x.requires_grad and str(x.dtype).endswith(("float32", "float16"))]
    return "note: the inputs are float32; for a sharper comparison pass them as double: x.double()" if single else ""


class Engine:
    """The two derivatives, with the engine that the tensors belong to."""

    def __init__(self, tensor: Any):
        prefix = "gradrepl." if engine_of(tensor) == "embedded" else ""
        self.torch, self.autograd = import_module(f"{prefix}torch"), import_module(f"{prefix}torch.autograd")
        self.step, self.relative, self.absolute = TOLERANCES.get(str(tensor.dtype).removeprefix("torch."), TOLERANCES["float32"])

    def outputs(self, f: Callable, inputs: list) -> list:
        result = f(*inputs)
        found = [t for _, t in tensors_in(result) if is_tensor(t) and (t.is_floating_point() or t.is_complex())]
        if not found:
            raise GraphError(f"nothing to check: the function gives no floating-point tensor, but {repr_of(result)}")
        return found

    def compare(self, f: Callable, inputs: list, varied: list[int], order: int) -> Any:
        outputs = self.outputs(f, inputs)
        for number_out, output in enumerate(outputs):
            analytic = self.analytic(output, [inputs[i] for i in varied])
            for place, i in enumerate(varied):
                if np.iscomplexobj(array_of(inputs[i])) or np.iscomplexobj(array_of(output)):
                    continue
                numeric = self.numeric(f, inputs, i, number_out, self.step)
                wrong = self.disagreements(analytic[place], numeric, output, inputs[i])
                told = self.hint if wrong else self.kink
                hint = told(f, inputs, i, number_out, analytic[place], numeric, wrong) if wrong or numeric.size <= MOST_SIDES else ""
                shape = tuple(output.shape) + tuple(inputs[i].shape)
                yield Comparison(order, number_out, i, analytic[place].reshape(shape), numeric.reshape(shape), tuple(wrong), hint)

    def analytic(self, output: Any, leaves: list) -> list:
        """One row per element of the output."""
        rows: list[list] = [[] for _ in leaves]
        flat = output.reshape(-1)
        for element in range(flat.numel()):
            found = (
                self.autograd.grad(flat[element], leaves, retain_graph=True, allow_unused=True)
                if output.requires_grad
                else [None] * len(leaves)
            )
            for row, leaf, gradient in zip(rows, leaves, found):
                row.append(np.zeros(leaf.numel()) if gradient is None else array_of(gradient).reshape(-1))
        return [np.array(row).reshape(flat.numel(), leaf.numel()) for row, leaf in zip(rows, leaves)]

    def numeric(self, f: Callable, inputs: list, varied: int, output: int, step: float, sides: tuple = (1, -1)) -> Any:
        """Central differences; with sides (1, 0) or (0, -1) those to one side."""
        base = array_of(inputs[varied])
        columns = []
        for place in range(base.size):
            values = []
            for side in sides:
                moved = base.copy()
                moved.reshape(-1)[place] += side * step
                values.append(self.value(f, inputs, varied, moved, output))
            columns.append((values[0] - values[1]) / (step * (sides[0] - sides[1])))
        count = self.value(f, inputs, varied, base, output).size
        return np.array(columns).T.reshape(count, base.size)

    def value(self, f: Callable, inputs: list, varied: int, moved: Any, output: int) -> Any:
        tensor = self.torch.as_tensor(moved, dtype=inputs[varied].dtype).requires_grad_()
        changed = [tensor if i == varied else x for i, x in enumerate(inputs)]
        return array_of(self.outputs(f, changed)[output]).reshape(-1).astype(float)

    def disagreements(self, analytic: Any, numeric: Any, output: Any, leaf: Any) -> list[Entry]:
        far = ~np.isclose(analytic, numeric, rtol=self.relative, atol=self.absolute, equal_nan=True)
        found = []
        for row, column in np.argwhere(far):
            out = tuple(map(int, np.unravel_index(row, tuple(output.shape)))) if output.dim() else ()
            into = tuple(map(int, np.unravel_index(column, tuple(leaf.shape)))) if leaf.dim() else ()
            found.append(Entry(out, into, analytic[row, column], numeric[row, column]))
        return found

    def hint(self, f: Callable, inputs: list, varied: int, output: int, analytic: Any, numeric: Any, wrong: list[Entry]) -> str:
        """Why they may differ: the precision, a kink, or a formula that is wrong in a way that shows."""
        right = self.numeric(f, inputs, varied, output, self.step, (1, 0))
        left = self.numeric(f, inputs, varied, output, self.step, (0, -1))
        far = ~np.isclose(analytic, numeric, rtol=self.relative, atol=self.absolute, equal_nan=True)
        if not np.isfinite(analytic[far]).all() or not np.isfinite(numeric[far]).all():
            return "a value here is not finite: the function is not differentiable, or not defined, near this point"
        if (~np.isclose(left, right, rtol=100 * self.relative, atol=100 * self.absolute))[far].any():
            return "the function has a kink or a jump here: the slopes to the left and to the right differ; try another point"
        ratio = analytic[far] / np.where(numeric[far] == 0, np.nan, numeric[far])
        if analytic.shape[0] == analytic.shape[1] and np.allclose(analytic, numeric.T, rtol=self.relative, atol=self.absolute):
            return "the formula gives the transposed Jacobian"
        if not analytic[far].any():
            return "the formula gives 0: an input is missing in it, or something was detached"
        if np.isfinite(ratio).all() and np.ptp(ratio) <= 1e-3 * abs(ratio[0]):
            return (
                "the sign of the formula is wrong" if abs(ratio[0] + 1) < 1e-3 else f"the formula is off by the factor {number(ratio[0])}"
            )
        return (
            "the formula is wrong for these entries"
            if not str(inputs[varied].dtype).endswith("32")
            else "float32 is coarse: try x.double() first"
        )

    def kink(self, f: Callable, inputs: list, varied: int, output: int, analytic: Any, numeric: Any, wrong: list[Entry]) -> str:
        """Where the slopes to both sides differ although the one in the middle agrees: |x| at 0."""
        right = self.numeric(f, inputs, varied, output, self.step, (1, 0))
        left = self.numeric(f, inputs, varied, output, self.step, (0, -1))
        places = np.argwhere(~np.isclose(left, right, rtol=100 * self.relative, atol=100 * self.absolute))
        if not len(places):
            return ""
        row, column = places[0]
        return (
            f"a kink: the slope is {number(left[row, column])} to the left and {number(right[row, column])} to the right; "
            f"{number(analytic[row, column])} was chosen"
        )

    def derivative_of(self, f: Callable, varied: list[int]) -> Callable:
        """The gradient of a weighted sum of the outputs, as a function to be checked in turn."""

        def gradient(*inputs: Any) -> list:
            outputs = [t for t in self.outputs(f, list(inputs)) if t.requires_grad]
            weights = [self.torch.as_tensor(weight_like(t), dtype=t.dtype) for t in outputs]
            found = self.autograd.grad(outputs, [inputs[i] for i in varied], grad_outputs=weights, create_graph=True, allow_unused=True)
            return [inputs[i] * 0 if g is None else g for i, g in zip(varied, found)]

        return gradient


def weight_like(tensor: Any) -> Any:
    """Fixed weights, all different, so that no term cancels another."""
    return (0.5 + np.cos(np.arange(tensor.numel()) * 1.7) / 3).reshape(tuple(tensor.shape))
