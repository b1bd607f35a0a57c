"""Functions of one tensor, element by element: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine import single
from gradrepl.engine.declare import op
from gradrepl.engine.ops.pointwise import in_place, pow, pow_
from gradrepl.engine.promotion import SCALARS, in_single, narrowed
from gradrepl.engine.public import publish
from gradrepl.engine.returns import RETURN_TYPES


@op("AbsBackward0", self="grad * self.sgn()")
def abs(self):
    return np.abs(self) if self.dtype.kind != "b" else unsupported("abs_cpu", self)


def unsupported(name, array):
    raise NotImplementedError(f"\"{name}\" not implemented for '{SCALARS[array.dtype.name]}'")


@op("ExpBackward0", self="grad * conj(result)")
def exp(self):
    return single.exp(narrowed(self))


@op("Exp2Backward0", self="grad * conj(result) * 0.6931471805599453")
def exp2(self):
    return single.exp2(narrowed(self))


@op("Expm1Backward0", self="grad * (conj(result) + 1)")
def expm1(self):
    return single.expm1(narrowed(self))


@op("LogBackward0", self="grad / conj(self)")
def log(self):
    return single.log(narrowed(self))


@op("Log2Backward0", self="grad / (conj(self) * 0.6931471805599453)")
def log2(self):
    return single.log2(narrowed(self))


@op("Log10Backward0", self="grad / (conj(self) * 2.3025850929940456)")
def log10(self):
    return single.log10(narrowed(self))


@op("Log1PBackward0", self="grad / conj(self + 1)")
def log1p(self):
    return single.log1p(narrowed(self))


@op("SqrtBackward0", self="grad / (2 * conj(result))")
def sqrt(self):
    return single.sqrt(narrowed(self))


@op("RsqrtBackward0", self="-0.5 * grad * conj(result.pow(3))")
@in_single
def rsqrt(self):
    return single.inverse(np.sqrt(narrowed(self)))


@op("ReciprocalBackward0", self="-grad * conj(result * result)")
def reciprocal(self):
    return single.inverse(narrowed(self))


@op("SinBackward0", self="grad * conj(self.cos())")
def sin(self):
    return single.sin(narrowed(self))


@op("CosBackward0", self="grad * -conj(self.sin())")
def cos(self):
    return single.cos(narrowed(self))


@op("TanBackward0", self="grad * conj(1 + result.pow(2))")
def tan(self):
    return single.tan(narrowed(self))


@op("AsinBackward0", self="grad * conj((-self * self + 1).rsqrt())")
def asin(self):
    return single.arcsin(narrowed(self))


@op("AcosBackward0", self="grad * -conj((-self * self + 1).rsqrt())")
def acos(self):
    return single.arccos(narrowed(self))


@op("AtanBackward0", self="grad / conj(self * self + 1)")
def atan(self):
    return single.arctan(narrowed(self))


@op("SinhBackward0", self="grad * conj(self.cosh())")
def sinh(self):
    return single.sinh(narrowed(self))


@op("CoshBackward0", self="grad * conj(self.sinh())")
def cosh(self):
    return single.cosh(narrowed(self))


@op("TanhBackward0", self="tanh_backward(grad, result)")
def tanh(self):
    return np.tanh(self) if self.dtype is single.DOUBLE else single.tanh(narrowed(self))


# One as an array: NumPy takes 0.3 us to make one of a Python number, and 6 us more to subtract from it in place (64x256)
ONE = {np.dtype(letter): np.ones((), letter) for letter in "efdFD"}


def times_slope(grad, slope):
    """grad * conj(slope), in the memory of `slope`, which is ours: new memory has to be brought in (tanh of 300x300: 1.3 ms, now 0.2)."""
    if slope.dtype.kind == "c":
        np.conj(slope, slope)
    fits = grad.shape == slope.shape and grad.dtype is slope.dtype
    return np.multiply(grad, slope, slope if fits else None)


@op("TanhBackwardBackward0", grad_output="tanh_backward(grad, conj(output))", output="conj(grad) * (-2 * conj(output) * grad_output)")
def tanh_backward(grad_output, output):
    slope = np.asarray(np.square(output))
    return times_slope(grad_output, np.subtract(ONE[slope.dtype], slope, slope))


@op("AsinhBackward0", self="grad * conj((self.pow(2) + 1).rsqrt())")
def asinh(self):
    return single.arcsinh(narrowed(self))


@op("AcoshBackward0", self="acosh_backward(grad, self)")
def acosh(self):
    return single.arccosh(narrowed(self))


@op("AtanhBackward0", self="grad * 1 / conj(1 - self.pow(2))")
def atanh(self):
    return single.arctanh(narrowed(self))


@op("AsinhBackward1", self="not_implemented('inplace version of asinh')")
def asinh_written(self):
    return single.arcsinh(narrowed(self))


@op("AcoshBackward1", self="not_implemented('inplace version of acosh')")
def acosh_written(self):
    return single.arccosh(narrowed(self))


@op("AtanhBackward1", self="not_implemented('inplace version of atanh')")
def atanh_written(self):
    return single.arctanh(narrowed(self))


@op("SigmoidBackward0", self="sigmoid_backward(grad, result)")
@in_single
def sigmoid(self):
    return single.inverse(np.add(single.exp(np.negative(narrowed(self))), 1))


@op(
    "SigmoidBackwardBackward0",
    grad_output="sigmoid_backward(grad, conj(output))",
    output="conj(grad) * grad_output * (-2 * conj(output) + 1)",
)
def sigmoid_backward(grad_output, output):
    slope = np.asarray(np.subtract(ONE[output.dtype], output))
    return times_slope(grad_output, np.multiply(slope, output, slope))


@op("SignBackward0", self="zeros_like(grad)")
def sign(self):
    if self.dtype.kind == "c":
        raise NotImplementedError("Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.")
    return signs(self)


def signs(array):
    """-1, 0 or 1; of NaN 0."""
    if array.dtype.kind == "b":
        return array.copy()
    result = np.sign(array)
    return np.where(np.isnan(array), array.dtype.type(0), result) if array.dtype.kind == "f" else result


@op("SgnBackward0", self="sgn_backward(self, grad, result)")
def sgn(self):
    return signs(self)


@op("FloorBackward0", self="zeros_like(grad)")
def floor(self):
    return np.floor(real_only(self, "floor"))


@op("CeilBackward0", self="zeros_like(grad)")
def ceil(self):
    return np.ceil(real_only(self, "ceil"))


@op("TruncBackward0", self="zeros_like(grad)")
def trunc(self):
    return np.trunc(real_only(self, "trunc"))


@op("RoundBackward0", self="zeros_like(grad)")
def round_whole(self):
    return whole(self)


def whole(array):
    if array.dtype.kind in "bc":
        unsupported("round_vml_cpu", array)
    return np.rint(array) if array.dtype.kind == "f" else array.copy()


@op("RoundBackward1", self="zeros_like(grad)")
def round_decimals(self, decimals):
    if decimals == 0:
        return whole(self)
    if self.dtype.kind != "f":
        unsupported("round_cpu", self)
    scale = self.dtype.type(10.0 ** np.abs(decimals))
    return np.rint(self * scale) / scale if decimals >= 0 else np.rint(self / scale) * scale


def real_only(array, name):
    if array.dtype.kind == "c":
        raise NotImplementedError(f"{name} is not supported for complex inputs")
    if array.dtype.kind == "b":
        unsupported(f"{name}_vml_cpu", array)
    return array


@op("FracBackward0", self="grad")
def frac(self):
    return self - np.trunc(self) if self.dtype.kind == "f" else unsupported("frac_cpu", self)


@op("Deg2RadBackward0", self="grad * 0.017453292519943295")
def deg2rad(self):
    return turned(self, 0.017453292519943295, "deg2rad")


def turned(array, factor, name):
    if array.dtype.kind == "c":
        raise RuntimeError(f"{name} is not supported for complex tensors.")
    return np.multiply(narrowed(array), factor)


@op("Rad2DegBackward0", self="grad * 57.29577951308232")
def rad2deg(self):
    return turned(self, 57.29577951308232, "rad2deg")


@op("NanToNumBackward0", self="grad * isfinite(self)")
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    if self.dtype.kind not in "fc":
        return self.copy()
    return np.nan_to_num(self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@op("LogitBackward0", self="logit_backward(grad, self, eps)")
@in_single
def logit(self, eps=None):
    self = narrowed(self)
    if self.dtype.kind == "c":
        unsupported("logit_cpu", self)
    if eps is not None:
        self = np.clip(self, eps := float(eps), 1 - eps)
    return single.log(self / (1 - self))


@op("SincBackward0", self="sinc_backward(grad, self)")
@in_single
def sinc(self):
    turned = np.multiply(narrowed(self), np.pi)
    with np.errstate(all="ignore"):
        return np.where(turned == 0, turned.dtype.type(1), single.sin(turned) / turned)


@op("FrexpBackward0", self="grad / exp2(exponent)", outputs="mantissa, exponent", differentiable="mantissa")
def frexp_parts(self):
    if self.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return np.frexp(self)


def frexp(self):
    return FREXP(frexp_parts(self))


def round(self, *, decimals=None):
    if type(decimals) is bool:
        return NotImplemented
    return round_whole(self) if decimals is None else round_decimals(self, decimals)


def round_(self, *, decimals=None):
    if type(decimals) is bool:
        return NotImplemented
    return in_place(round_whole)(self) if decimals is None else in_place(round_decimals)(self, decimals)


def square(self):
    return pow(self, 2)


def square_(self):
    return pow_(self, 2)


def positive(self):
    if self.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


FREXP = RETURN_TYPES["frexp"]


def abs_(self):
    if self.array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return in_place(abs)(self)


WRITABLE = """acos arccos:acos arcsin:asin arctan:atan asin atan ceil cos cosh deg2rad exp exp2 expm1 fix:trunc floor frac log log10
    log1p log2 logit nan_to_num rad2deg reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh trunc"""
publish(
    globals(),
    both=f"""{WRITABLE} abs absolute:abs acosh arccosh:acosh asinh arcsinh:asinh atanh arctanh:atanh sign sgn round square positive
        frexp""",
    functions="abs_ round_ square_",
    methods="abs_ absolute_:abs_ round_ square_ __abs__:abs __pos__:positive",
    in_place="sign sgn",
    in_place_both=f"""{WRITABLE} acosh:acosh_written arccosh:acosh_written asinh:asinh_written arcsinh:asinh_written atanh:atanh_written
        arctanh:atanh_written""",
)
