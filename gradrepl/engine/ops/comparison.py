"""Comparisons, logic and bits, and what chooses by them: declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import Array, op
from gradrepl.engine.dtypes import Default
from gradrepl.engine.masks import chosen
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.ops.pointwise import PAIR, in_place, number_tensor, reflected
from gradrepl.engine.promotion import SCALARS, alike, fitting, number_as, result_dtype, shape_error
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of
from gradrepl.engine.views import written


def ordered(ufunc, name):
    """The forward of an ordering; complex numbers have none."""

    def forward(self, other):
        if self.dtype.kind == "c":
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{SCALARS[self.dtype.name]}'")
        return ufunc(self, other)

    return forward


def comparison(ufunc, name, forward=None):
    """A comparison as users call it, and its writing variant. Out of place it is never differentiable; in place its gradient is zero."""
    forward = forward or ordered(ufunc, name)
    forward.__name__ = name
    compare, title = op(**PAIR)(forward), name.capitalize()

    def with_number(self, other):
        return forward(*alike(self, other)).astype(self.dtype)

    def with_tensor(self, other):
        return forward(*fitting(*alike(self, other))).astype(self.dtype)

    with_number.__name__, with_tensor.__name__ = name + "_scalar", name + "_tensor"
    numbers = op(f"{title}Backward0", self="zeros_like(grad)")(with_number)
    tensors = op(f"{title}Backward1", self="zeros_like(grad)", other="zeros(other.meta())")(with_tensor)

    def write(self, other):
        return in_place(tensors if isinstance(other, Tensor) else numbers)(self, other)

    write.__name__ = write.__qualname__ = name + "_"
    return compare, write


gt, gt_ = comparison(np.greater, "gt")
ge, ge_ = comparison(np.greater_equal, "ge")
lt, lt_ = comparison(np.less, "lt")
le, le_ = comparison(np.less_equal, "le")
eq, eq_ = comparison(None, "eq", lambda self, other: np.equal(self, other))
ne, ne_ = comparison(None, "ne", lambda self, other: np.not_equal(self, other))


def logic(name, ufunc):
    """A logical operation of two tensors of any dtypes."""

    def forward(self: Array, other):
        try:
            return ufunc(self, other)
        except ValueError as error:
            raise shape_error(error, self, other) from None

    forward.__name__ = f"{name}_arrays"
    run = op()(forward)

    def function(self, other):
        return tensor_of(forward(self.array, other.array))

    def write(self, other):
        return in_place(run)(self, other.array)

    function.__name__, write.__name__ = name, name + "_"
    return function, write


logical_and, logical_and_ = logic("logical_and", np.logical_and)
logical_or, logical_or_ = logic("logical_or", np.logical_or)
logical_xor, logical_xor_ = logic("logical_xor", np.logical_xor)


@op()
def logical_not(self: Array):
    return np.logical_not(self)


def logical_not_(self):
    return in_place(logical_not_like)(self)


@op()
def logical_not_like(self: Array):
    return np.logical_not(self).astype(self.dtype)


def bits(name, ufunc):
    """An operation on the bits of integers and booleans; either side may be a number."""

    def forward(self, other):
        kind = np.result_type(self, other)
        if kind.kind not in ("iu" if name.endswith("shift") else "iub"):
            kind = Default.float if isinstance(other, float) and self.dtype.kind not in "fc" else kind
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{SCALARS[kind.name]}'")
        return ufunc(self, other)

    forward.__name__ = f"{name}_arrays"
    run = op(**PAIR)(forward)

    def function(self, other):
        return run(self if isinstance(self, Tensor) else number_tensor(self), other)

    function.__name__ = function.__qualname__ = name
    return function, in_place(run), reflected(lambda self, number: function(number, self))


bitwise_and, bitwise_and_, __rand__ = bits("bitwise_and", np.bitwise_and)
bitwise_or, bitwise_or_, __ror__ = bits("bitwise_or", np.bitwise_or)
bitwise_xor, bitwise_xor_, __rxor__ = bits("bitwise_xor", np.bitwise_xor)
bitwise_left_shift, bitwise_left_shift_, __rlshift__ = bits("lshift", np.left_shift)
bitwise_right_shift, bitwise_right_shift_, __rrshift__ = bits("rshift", np.right_shift)


@op()
def bitwise_not(self: Array):
    if self.dtype.kind not in "biu":
        raise NotImplementedError(f"\"bitwise_not_cpu\" not implemented for '{SCALARS[self.dtype.name]}'")
    return np.invert(self)


def __invert__(self):
    if self.array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


def test(name, forward):
    """A question about each element."""

    def function(self):
        return tensor_of(forward(self.array))

    function.__name__ = function.__qualname__ = name
    return function


isfinite = test("isfinite", np.isfinite)
isinf = test("isinf", np.isinf)
isnan = test("isnan", np.isnan)
isreal = test("isreal", np.isreal)


NO_COMPLEX = {"signbit": "is not implemented for complex tensors."}


def signed_test(name, forward):
    """A question about each element that takes `out=`."""

    def function(self):
        if self.array.dtype.kind == "c":
            raise (NotImplementedError if name in NO_COMPLEX else RuntimeError)(
                f"{name} {NO_COMPLEX.get(name, 'does not support complex inputs.')}"
            )
        return tensor_of(forward(self.array))

    function.__name__ = function.__qualname__ = name
    return function


isneginf = signed_test("isneginf", lambda x: np.isneginf(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool))
isposinf = signed_test("isposinf", lambda x: np.isposinf(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool))
signbit = signed_test("signbit", lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0)


def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = self.array, other.array
    if x.dtype != y.dtype:
        raise RuntimeError(f"{SCALARS[x.dtype.name]} did not match {SCALARS[y.dtype.name]}")
    fitting(x, y)
    close, writes = np.asarray(np.equal(x, y)), int(bool(rtol or atol))
    if x.dtype.kind in "fc":
        if equal_nan:
            close, writes = close | np.isnan(x) & np.isnan(y), writes + 1
        error = np.abs(x - y)
        close = close | np.isfinite(error) & (error <= np.asarray(atol + np.abs(rtol * y)).astype(error.dtype))
    elif rtol or atol:
        error = np.abs(x.astype(np.int64) - y.astype(np.int64))
        close = close | (error <= (atol + np.abs(rtol * y.astype(np.float32))))
    return worked_over(tensor_of(close), writes)


def worked_over(result, writes):
    """A result that PyTorch made by that many writes: its version shows them."""
    for _ in range(writes):
        written(result)
    return result


def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = self.array, other.array
    if x.dtype != y.dtype:
        raise RuntimeError(f"{SCALARS[x.dtype.name]} did not match {SCALARS[y.dtype.name]}")
    return bool(isclose(self, other, rtol, atol, equal_nan).array.all())


def equal(self, other):
    return self.array.shape == other.array.shape and bool(np.equal(self.array, other.array).all())


@op("WhereBackward0", self="where(condition, grad, 0)", other="where(condition, 0, grad)")
def where_tensors(condition: Array, self, other):
    self, other = alike(self, other)
    try:
        return chosen(condition, self, other, self.dtype)
    except ValueError as error:
        raise shape_error(error, condition, self) if not fits(condition, self) else shape_error(error, self, other) from None


def fits(x, y):
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(x.shape), reversed(y.shape)))


def choose(condition, self=None, other=None):
    """`torch.where`: without alternatives the places, as `nonzero(as_tuple=True)`."""
    if self is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition.array.dtype.kind != "b" and condition.array.dtype != np.uint8:
        kind = SCALARS[condition.array.dtype.name]
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind}")
    both = [x if isinstance(x, Tensor) else number_tensor(x) for x in (self, other)]
    for value, place in ((self, 0), (other, 1)):
        if not isinstance(value, Tensor):
            both[place] = number_for(value, both[1 - place] if isinstance((self, other)[1 - place], Tensor) else None)
    return where_tensors(condition, *both)


def number_for(number, beside):
    """A number beside a tensor only counts by its category, also beside a 0-d tensor."""
    if beside is None:
        return number_tensor(number)
    return tensor_of(number_as(number, result_dtype((beside.array, number))))


def where_method(self, condition, other):
    return choose(condition, self, other)


@op("MaskedFillBackward0", self="masked_fill(grad, mask, 0)")
def masked_fill_number(self, mask: Array, value):
    return chosen(checked_mask(mask, self), number_as(value, self.dtype), self, self.dtype)


@op("MaskedFillBackward1", self="masked_fill(grad, mask, 0)", value="masked_fill_backward(grad, mask)")
def masked_fill_tensor(self, mask: Array, value):
    if value.ndim:
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).")
    return chosen(checked_mask(mask, self), value, self, self.dtype)


def checked_mask(mask, self):
    fitting(mask, self)
    if mask.dtype.kind != "b":
        kind = SCALAR_TYPES[mask.dtype.name]
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {kind}")
    return mask


def masked_fill(self, mask, value):
    return (masked_fill_tensor if isinstance(value, Tensor) else masked_fill_number)(self, mask, value)


def masked_fill_(self, mask, value):
    return in_place(masked_fill_tensor if isinstance(value, Tensor) else masked_fill_number)(self, mask, value)


publish(
    globals(),
    both="""gt ge lt le eq ne greater:gt greater_equal:ge less:lt less_equal:le not_equal:ne logical_and logical_or logical_xor logical_not
        bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift isfinite isinf isnan isreal isneginf isposinf
        signbit isclose allclose equal masked_fill""",
    functions="where:choose",
    methods="""where:where_method gt_ ge_ lt_ le_ eq_ ne_ greater_:gt_ greater_equal_:ge_ less_:lt_ less_equal_:le_ not_equal_:ne_
        logical_and_ logical_or_ logical_xor_ logical_not_ bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_left_shift_ bitwise_right_shift_
        masked_fill_ __gt__:gt __ge__:ge __lt__:lt __le__:le __eq__:eq __ne__:ne __invert__
        __and__:bitwise_and __or__:bitwise_or __xor__:bitwise_xor __rand__ __ror__ __rxor__ __iand__:bitwise_and_ __ior__:bitwise_or_
        __ixor__:bitwise_xor_ __lshift__:bitwise_left_shift __rshift__:bitwise_right_shift __rlshift__ __rrshift__
        __ilshift__:bitwise_left_shift_ __irshift__:bitwise_right_shift_""",
    in_place="bitwise_not",
)
