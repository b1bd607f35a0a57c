"""torch.testing.assert_close: what differs between two nests of tensors, in PyTorch's words. Imports the engine's tensors only."""

__name__ = __name__.removeprefix("gradrepl.")

import numbers
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from gradrepl.engine.dtypes import OF_ARRAY
from gradrepl.engine.factories import as_tensor
from gradrepl.engine.tensor import Tensor

TOLERANCES = dict(
    float16=(1e-3, 1e-5), bfloat16=(1.6e-2, 1e-5), float32=(1.3e-6, 1e-5), float64=(1e-7, 1e-7), complex64=(1.3e-6, 1e-5),
    complex128=(1e-7, 1e-7),
)  # fmt: skip
NUMBER_DTYPES = {int: "int64", float: "float64", complex: "complex128"}
OLDER_TOLERANCES = dict(float16=(1e-3, 1e-3), bfloat16=(1e-2, 1e-3), float32=(1e-4, 1e-5), float64=(1e-5, 1e-8))


class Difference(Exception):
    """Two things are not close; `path` leads to them."""

    def __init__(self, text, path=(), error=AssertionError):
        super().__init__(text)
        self.text, self.path, self.error = text, path, error


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """Raise AssertionError unless both are close: |actual - expected| <= atol + rtol * |expected|, and of one shape, dtype and kind."""
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    tolerances = None if rtol is None else (rtol, atol)
    options = dict(tolerances=tolerances, equal_nan=equal_nan, check_dtype=check_dtype, check_stride=check_stride)
    try:
        for path, one, other in pairs(actual, expected):
            compare(one, other, path, allow_subclasses, options)
    except Difference as found:
        text = found.text
        if found.path:
            text += "\n\nThe failure occurred for item " + "".join(f"[{key!r}]" for key in found.path)
        if msg is not None and found.error is AssertionError:
            text = msg(text) if callable(msg) else msg
        error = found.error(text)
    else:
        return
    raise error


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The older form of `assert_close`, which does not look at devices, dtypes and strides."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
        "`torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    actual, expected = as_tensor(actual), as_tensor(expected)
    if rtol is None and atol is None:
        rtol, atol = max(OLDER_TOLERANCES.get(x.dtype.name, (0, 0)) for x in (actual, expected))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def is_sequence(value):
    return isinstance(value, Sequence) and not isinstance(value, str)


def pairs(actual, expected):
    """The leaves of two nests, side by side, each with its path. The nests are walked with a stack of their own, not by recursion."""
    waiting = [((), actual, expected)]
    while waiting:
        path, one, other = waiting.pop()
        if is_sequence(one) and is_sequence(other):
            if len(one) != len(other):
                raise Difference(f"The length of the sequences mismatch: {len(one)} != {len(other)}", path)
            waiting += [((*path, i), one[i], other[i]) for i in reversed(range(len(one)))]
        elif isinstance(one, Mapping) and isinstance(other, Mapping):
            check_keys(one, other, path)
            waiting += [((*path, key), one[key], other[key]) for key in reversed(sorted_keys(one))]
        else:
            yield path, one, other


def sorted_keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def check_keys(one, other, path):
    missing, additional = [k for k in other if k not in one], [k for k in one if k not in other]
    if missing or additional:
        raise Difference(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted_keys(missing)}\nAdditional keys in the actual mapping: {sorted_keys(additional)}",
            path,
        )


def compare(one, other, path, allow_subclasses, options):
    if one is None or other is None:
        if one is not other:
            raise Difference(f"None mismatch: {one} is not {other}", path)
    elif isinstance(one, (bool, np.bool_)) and isinstance(other, (bool, np.bool_)):
        if bool(one) is not bool(other):
            raise Difference(f"Booleans mismatch: {bool(one)} is not {bool(other)}", path)
    elif isinstance(one, numbers.Number) and isinstance(other, numbers.Number):
        compare_numbers(one, other, path, options)
    elif (isinstance(one, type(other)) or isinstance(other, type(one))) and is_tensor_like(one) and is_tensor_like(other):
        if not allow_subclasses and type(one) is not type(other):
            raise incomparable(one, other, path)
        compare_tensors(as_tensor(one).array, as_tensor(other).array, path, **options)
    else:
        raise incomparable(one, other, path)


def incomparable(one, other, path):
    return Difference(f"No comparison pair was able to handle inputs of type {type(one)} and {type(other)}.", path, TypeError)


def is_tensor_like(value):
    return isinstance(value, (Tensor, np.ndarray))


def compare_numbers(one, other, path, options):
    if options["check_dtype"] and type(one) is not type(other):
        raise Difference(f"The (d)types do not match: {type(one)} != {type(other)}.", path)
    name = max((NUMBER_DTYPES.get(type(n), "float64") for n in (one, other)), key=["int64", "float64", "complex128"].index)
    rtol, atol = options["tolerances"] or TOLERANCES.get(name, (0.0, 0.0))
    if one == other or options["equal_nan"] and one != one and other != other:
        return
    distance = abs(one - other)
    if distance <= atol + rtol * abs(other) and distance != float("inf"):
        return
    raise Difference(scalars_of(one, other, rtol, atol), path)


def allowed(tolerance):
    return f" (up to {tolerance} allowed)"


def scalars_of(one, other, rtol, atol):
    distance = abs(one - other)
    relative = distance / abs(other) if other else float("inf")
    equal = rtol == 0 and atol == 0
    return (
        f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {other} but got {one}.\n"
        f"Absolute difference: {distance}{'' if equal else allowed(atol)}\nRelative difference: {relative}{'' if equal else allowed(rtol)}"
    )


def compare_tensors(one, other, path, tolerances, equal_nan, check_dtype, check_stride):
    check_attributes(one, other, path, check_dtype, check_stride)
    if one.dtype != other.dtype:
        kind = np.promote_types(one.dtype, other.dtype)
        one, other = one.astype(kind), other.astype(kind)
    rtol, atol = tolerances or TOLERANCES.get(one.dtype.name, (0.0, 0.0))
    if one.dtype.kind == "b":
        one, other = one.astype(np.uint8), other.astype(np.uint8)
    if one.dtype.kind == "u":
        one, other = one.astype(np.int64), other.astype(np.int64)
    with np.errstate(all="ignore"):
        distance = np.abs(one - other)
        close = (one == other) | (np.isfinite(one) & np.isfinite(other) & (distance <= atol + rtol * np.abs(other)))
        if equal_nan and one.dtype.kind in "fc":
            close |= np.isnan(one) & np.isnan(other)
        if close.all():
            return
        relative = np.divide(distance, np.abs(other), dtype=np.float32 if one.dtype.kind in "iu" else None)
    raise Difference(mismatch(one, other, close, distance, relative, rtol, atol), path)


def check_attributes(one, other, path, check_dtype, check_stride):
    facts = [("shape", *[f"torch.Size({list(x.shape)})" for x in (one, other)], True)]
    facts.append(("dtype", *[str(OF_ARRAY[x.dtype]) for x in (one, other)], check_dtype))
    facts.append(("stride()", *[str(tuple(s // x.itemsize for s in x.strides)) for x in (one, other)], check_stride))
    for name, a, b, checked in facts:
        if checked and a != b:
            raise Difference(f"The values for attribute '{name}' do not match: {a} != {b}.", path)


def mismatch(one, other, close, distance, relative, rtol, atol):
    if not one.ndim:
        return scalars_of(one.item(), other.item(), rtol, atol)
    count, total, equal = int((~close).sum()), close.size, rtol == 0 and atol == 0
    lines = [f"Tensor-likes are not {'equal' if equal else 'close'}!", "", f"Mismatched elements: {count} / {total} ({count / total:.1%})"]
    for name, sizes, tolerance in (("absolute", distance, atol), ("relative", relative, rtol)):
        sizes = np.where(close, np.zeros((), sizes.dtype), sizes)
        place = np.unravel_index(np.argmax(sizes), sizes.shape)
        index = tuple(int(i) for i in place)
        lines.append(f"Greatest {name} difference: {sizes[place].item()} at index {index}{'' if equal else allowed(tolerance)}")
    return "\n".join(lines)
