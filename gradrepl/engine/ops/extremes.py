"""Extremes of two tensors, and clamping: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dims import require
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.ops.pointwise import TENSORS, in_place, overload, refuse_kinds
from gradrepl.engine.promotion import SCALARS, alike, castable, fitting, result_dtype
from gradrepl.engine.public import publish
from gradrepl.engine.recorder import Maybe
from gradrepl.engine.tensor import Tensor


@op(
    "MaximumBackward0",
    self="masked_fill(where(self == other, grad / 2, grad), self < other, 0)",
    other="masked_fill(where(self == other, grad / 2, grad), self > other, 0)",
    **TENSORS,
)
def maximum(self, other):
    refuse(self, "maximum")
    return np.maximum(self, other)


@op(
    "MinimumBackward0",
    self="masked_fill(where(self == other, grad / 2, grad), self > other, 0)",
    other="masked_fill(where(self == other, grad / 2, grad), self < other, 0)",
    **TENSORS,
)
def minimum(self, other):
    refuse(self, "minimum")
    return np.minimum(self, other)


def refuse(array, name):
    if array.dtype.kind == "c":
        raise RuntimeError(f"{name} not implemented for complex tensors.")


@op(
    "FmaxBackward0",
    self="masked_fill(grad, logical_not(logical_or(self >= other, isnan(other))), 0)",
    other="masked_fill(grad, logical_or(self >= other, isnan(other)), 0)",
    **TENSORS,
)
def fmax(self, other):
    refuse(self, "fmax")
    return np.fmax(self, other)


@op(
    "FminBackward0",
    self="masked_fill(grad, logical_not(logical_or(self <= other, isnan(other))), 0)",
    other="masked_fill(grad, logical_or(self <= other, isnan(other)), 0)",
    **TENSORS,
)
def fmin(self, other):
    refuse(self, "fmin")
    return np.fmin(self, other)


@op("ClampBackward1", self="clamp_backward(grad, self, min, max)")
def clamp_numbers(self, min=None, max=None):
    bounds = [bound for bound in (min, max) if bound is not None]
    require(bounds, "torch.clamp: At least one of 'min' or 'max' must not be None")
    self, *bounds = alike(self, *bounds)
    if min is not None:
        self = np.maximum(self, bounds[0])
    return self if max is None else np.minimum(self, bounds[-1])


@op(
    "ClampBackward0",
    {"self": "clamp_backward(grad, self, min, max)", "min, max": "clamp_backward_min_max(grad, self, min, max, grad_input_mask)"},
)
def clamp_tensors(self, min: Maybe = None, max: Maybe = None):
    bounds = [bound for bound in (min, max) if bound is not None]
    self, *bounds = fitting(*alike(self, *bounds))
    refuse_kinds(self, "maximum" if max is None else "minimum" if min is None else "clamp")
    if min is not None:
        self = np.maximum(self, bounds[0])
    return self if max is None else np.minimum(self, bounds[-1])


@op("ClampMinBackward0", self="where(self >= min, grad, 0)")
def clamp_min_number(self, min):
    return np.maximum(*alike(self, min))


@op("ClampMinBackward1", self="where(self >= min, grad, 0)", min="where(self < min, grad, 0)")
def clamp_min_tensor(self, min):
    return np.maximum(*alike(self, min))


@op("ClampMaxBackward0", self="where(self <= max, grad, 0)")
def clamp_max_number(self, max):
    return np.minimum(*alike(self, max))


@op("ClampMaxBackward1", self="where(self <= max, grad, 0)", max="where(self > max, grad, 0)")
def clamp_max_tensor(self, max):
    return np.minimum(*alike(self, max))


clamp_min, clamp_min_ = overload("clamp_min", clamp_min_tensor, clamp_min_number)
clamp_max, clamp_max_ = overload("clamp_max", clamp_max_tensor, clamp_max_number)


def clamp(self, min=None, max=None):
    return clamp_op(self, min, max)(self, min, max)


def clamp_(self, min=None, max=None):
    run = clamp_op(self, min, max)
    kind = result_dtype([self.array, *[x for x in (min, max) if x is not None and not isinstance(x, Tensor)]])
    if not castable(kind, self.array.dtype):
        target = SCALAR_TYPES[self.array.dtype.name]
        raise RuntimeError(f"result type {SCALARS[kind.name]} can't be cast to the desired output type {target}")
    return in_place(run)(self, min, max)


def clamp_op(self, min, max):
    if self.array.dtype.kind == "c" and (min is not None or max is not None):
        raise NotImplementedError("clamp is not supported for complex types")
    return clamp_tensors if isinstance(min, Tensor) or isinstance(max, Tensor) else clamp_numbers


publish(
    globals(),
    both="maximum minimum fmax fmin clamp clip:clamp clamp_min clamp_max",
    functions="clamp_ clip_:clamp_ clamp_min_ clamp_max_",
    methods="clamp_ clip_:clamp_ clamp_min_ clamp_max_",
)
