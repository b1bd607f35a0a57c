"""`torch._foreach_…`: an operation on every tensor of a list, its other arguments lists as long, or one value for all."""

import numpy as np

from gradrepl.engine.declare import formula, op
from gradrepl.engine.formulas.general import where, zeros_like
from gradrepl.engine.names import NAMES
from gradrepl.engine.public import FUNCTIONS, publish
from gradrepl.engine.tensor import Tensor

PLAIN = """abs acos asin atan ceil clone cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 max mm neg reciprocal round
    rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
WITH_OTHERS = "add sub mul div clamp_max clamp_min maximum minimum pow lerp addcdiv addcmul copy".split()
IN_PLACE = {*PLAIN, *WITH_OTHERS, "zero"} - {"clone", "max", "mm", "maximum", "minimum"}
EXTREMES = {"maximum": "clamp_min", "minimum": "clamp_max"}  # what they are of a tensor and a number
NONE = "Tensor list must have at least one tensor."
OTHER_SCALARS = "Tensor list must have same number of elements as scalar list."
REFUSED = "Tensor lists must have the same number of tensors, got {} and {}"


@formula
def beyond_backward(grad, self, limit, sign):
    """The gradient of an extreme with a number: all, half or none of it."""
    above = self > limit if sign > 0 else self < limit
    return where(above, grad, where(self == limit, grad / 2, zeros_like(grad)))


@op("ForeachMaximumBackward1", self="beyond_backward(grad, self, scalars[place], 1)")
def maximum_of_scalars(self, scalars, place):
    return np.maximum(self, self.dtype.type(scalars[place]))


@op("ForeachMinimumBackward1", self="beyond_backward(grad, self, scalars[place], -1)")
def minimum_of_scalars(self, scalars, place):
    return np.minimum(self, self.dtype.type(scalars[place]))


def is_list(value):
    return isinstance(value, (list, tuple))


def rows(args):
    """The arguments of each operation."""
    lists = [arg for arg in args if is_list(arg)]
    if not lists[0]:
        raise RuntimeError(NONE)
    for other in lists[1:]:
        if len(other) != len(lists[0]):
            tensors = any([isinstance(x, Tensor) for x in other])
            raise RuntimeError(REFUSED.format(len(lists[0]), len(other)) if tensors else OTHER_SCALARS)
    return [[arg[i] if is_list(arg) else arg for arg in args] for i in range(len(lists[0]))]


def each(name, in_place):
    """The operation on lists."""

    def run(self, *args, **kwargs):
        function = getattr(Tensor, name + "_" * in_place)
        value = kwargs.pop("scalars", kwargs.pop("value", None))
        if name.startswith("addc") and (value is not None or len(args) == 3):
            values = args[2] if value is None else value
            values = values.tolist() if isinstance(values, Tensor) else values
            return [function(*tensors, value=number) for *tensors, number in rows([self, *args[:2], values])]
        if in_place:
            for row in rows([self, *args]):
                function(*row, **kwargs)
            return self
        return [answer(name, function, row, i, args, kwargs) for i, row in enumerate(rows([self, *args]))]

    return run


def answer(name, function, row, place, args, kwargs):
    if name in EXTREMES and not isinstance(row[1], Tensor):
        listed = is_list(args[0])
        return NAMES[f"{name}_of_scalars"](row[0], tuple(args[0]), place) if listed else getattr(Tensor, EXTREMES[name])(row[0], row[1])
    if not isinstance(row[0], Tensor):
        return FUNCTIONS[name](*row, **kwargs)
    return function(*row, **kwargs)


def _foreach_norm(self, ord=2, dtype=None):
    return [FUNCTIONS["norm"](x, ord, dtype=dtype) if dtype is not None else FUNCTIONS["norm"](x, ord) for x in self]


def _foreach_zero_(self):
    for x in self:
        x.zero_()
    return self


SCOPE = {f"_foreach_{name}": each(name, False) for name in (*PLAIN, *WITH_OTHERS) if name != "copy"}
SCOPE |= {f"_foreach_{name}_": each(name, True) for name in IN_PLACE if hasattr(Tensor, name + "_")}
SCOPE |= dict(_foreach_norm=_foreach_norm, _foreach_zero_=_foreach_zero_)
for name, function in SCOPE.items():
    function.__name__ = function.__qualname__ = name
publish(SCOPE, functions=" ".join(SCOPE))
