"""Making tensors: from data, filled, and counted. Imports the engine's declarations.

A maker returns an array; `made_by`, `like` and `new` give it the keywords that all factories share.
"""

import math
import operator
import os
from functools import wraps

import numpy as np

from gradrepl.engine.advice import warn
from gradrepl.engine.data import array_of, from_array
from gradrepl.engine.declare import unrecorded
from gradrepl.engine.dtypes import OF_PYTHON, Default, check_device, dtype, strided
from gradrepl.engine.layout import copied as copied_as
from gradrepl.engine.layout import in_order
from gradrepl.engine.modes import MAKERS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of

CANNOT_REQUIRE = "Only Tensors of floating point and complex dtype can require gradients"


def fresh(array, requires_grad=False):
    """A new leaf on an array of its own."""
    result = tensor_of(array)
    unrecorded(result)
    if requires_grad:
        if result.array.dtype.kind not in "fc":
            raise RuntimeError(CANNOT_REQUIRE)
        result.requires_grad = True
    return result


def numpy_dtype(given):
    """The NumPy dtype for what the user gave as `dtype=`: a torch dtype, a Python type, or None."""
    if given is None:
        return None
    if isinstance(given, dtype):
        return given.array
    if isinstance(given, type) and given in OF_PYTHON:
        return OF_PYTHON[given].array
    raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(given).__name__}")


def check_options(device, layout):
    if device is not None or Default.device is not None:
        check_device(Default.device if device is None else device)
    if layout is not None and layout is not strided:
        raise NotImplementedError(f"the embedded engine has no tensors of layout {layout}")


def made_by(maker):
    """A factory: `maker` gives the array, and takes `dtype` as NumPy's."""

    @wraps(maker)
    def factory(
        *args, dtype=None, out=None, layout=None, device=None, pin_memory=False, requires_grad=False, names=None, memory_format=None, **rest
    ):
        check_options(device, layout)
        check_flag(maker, "requires_grad", requires_grad)
        array = (MAKERS[0](maker) if MAKERS else maker)(*args, dtype=numpy_dtype(dtype), **rest)
        if memory_format is not None:
            array = copied_as(array, memory_format)
        if out is None:
            return fresh(array, requires_grad)
        return put(out, array)

    return factory


def check_flag(maker, name, value):
    if not isinstance(value, (bool, np.bool_, type(None))):
        raise TypeError(f"{maker.__name__}(): argument '{name}' must be bool, not {type(value).__name__}")


def put(out, array):
    """Write into `out=`, which takes the shape of the result."""
    if out.array.shape != array.shape:
        out.resize_(array.shape)
    return out.copy_(tensor_of(array))


def like(maker):
    """A factory in the shape, dtype and order of a tensor."""

    @wraps(maker)
    def factory(input, *args, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None, **rest):
        check_options(device, layout)
        check_flag(maker, "requires_grad", requires_grad)
        array = maker(input.payload, *args, dtype=numpy_dtype(dtype) or input.array.dtype, **rest)
        return fresh(array if memory_format is None else copied_as(array, memory_format), requires_grad)

    return factory


def sizes_of(size):
    """A shape from `(2, 3)` or `((2, 3),)`."""
    if len(size) == 1 and not isinstance(size[0], int):
        first = size[0]
        if isinstance(first, (tuple, list)):
            size = first
    return tuple([n if type(n) is int else whole(n) for n in size])


def whole(n):
    if isinstance(n, bool):
        raise TypeError("a size must be an int, not bool")
    return operator.index(n)


def check_sizes(name, size):
    """The shape of a new tensor. Some factories put their name in front of the complaint."""
    sizes = sizes_of(size)
    for n in sizes:
        if n < 0:
            named = name in ("zeros", "ones", "full")
            raise RuntimeError(
                f"{name}: Dimension size must be non-negative."
                if named
                else f"Trying to create tensor with negative dimension {n}: {list(sizes)}"
            )
    return sizes


def shape_from(name, args, named):
    """The shape from positional arguments or `size=`."""
    if "size" in named and not args:
        args = (named.pop("size"),)
    if named or not args:
        raise TypeError(f"{name}(): size")
    return check_sizes(name, args)


# ---- filled


@made_by
def zeros(*size, dtype=None, **named):
    return np.zeros(shape_from("zeros", size, named), dtype or Default.float)


@made_by
def ones(*size, dtype=None, **named):
    return np.ones(shape_from("ones", size, named), dtype or Default.float)


@made_by
def empty(*size, dtype=None, **named):
    return unwritten(shape_from("empty", size, named), dtype or Default.float)


def unwritten(shape, kind):
    """Zeros; or, if it is to stand out, NaN, the greatest integer, True."""
    if not Default.stands_out:
        return np.zeros(shape, kind)
    return np.full(shape, np.iinfo(kind).max if kind.kind in "iu" else np.nan if kind.kind in "fc" else True, kind)


@made_by
def full(size, fill_value, dtype=None):
    number = number_of(fill_value)
    return filled_with(np.empty(check_sizes("full", (tuple(size),)), dtype or dtype_of_number(number)), number)


def number_of(value):
    if isinstance(value, Tensor):
        if value.array.ndim or value.requires_grad:
            raise TypeError("argument must be Number, not Tensor")
        return value.array.item()
    if isinstance(value, (np.number, np.bool_)):
        return value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"argument must be Number, not {type(value).__name__}")
    return value


def dtype_of_number(number):
    if isinstance(number, bool):
        return np.dtype(bool)
    return {int: np.dtype(np.int64), float: Default.float, complex: Default.complex}[type(number)]


C_NAMES = dict(
    uint8="uint8_t", int8="int8_t", int16="int16_t", int32="int", int64="int64_t", float16="at::Half", float32="float", float64="double"
)


def fitting(number, kind):
    """A number as an array of some dtype will hold it; refused where it does not fit."""
    if kind.kind in "iu":
        number = number.real if isinstance(number, complex) else number
        if number != number or math.isinf(number):
            raise overflow(kind)
        number, bounds = int(number), np.iinfo(kind)
        if kind.kind == "u" and -bounds.max <= number < 0:
            return number % (bounds.max + 1)
        if not bounds.min <= number <= bounds.max:
            raise overflow(kind)
    elif kind.kind == "f":
        if isinstance(number, complex):
            if number.imag:
                raise overflow(kind)
            number = number.real
        if math.isfinite(number) and abs(number) > float(np.finfo(kind).max):
            raise overflow(kind)
    return number


def overflow(kind):
    return RuntimeError(f"value cannot be converted to type {C_NAMES.get(kind.name, kind.name)} without overflow")


def filled_with(array, number):
    array[...] = fitting(number, array.dtype)
    return array


def blank_like(array, dtype):
    """An array of the same shape and order, without gaps; dims that repeat are laid out in a row."""
    return np.empty(array.shape, dtype) if 0 in array.strides else np.empty_like(array, dtype)


@like
def zeros_like(shape_of, dtype=None):
    return filled_with(blank_like(shape_of, dtype), 0)


@like
def ones_like(shape_of, dtype=None):
    return filled_with(blank_like(shape_of, dtype), 1)


@like
def empty_like(shape_of, dtype=None):
    blank = blank_like(shape_of, dtype)
    return filled_with(blank, unwritten((), blank.dtype)[()])


@like
def full_like(shape_of, fill_value, dtype=None):
    return filled_with(blank_like(shape_of, dtype), number_of(fill_value))


@made_by
def empty_strided(size, stride, dtype=None):
    kind = dtype or Default.float
    span = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if 0 not in size else 0
    return np.ndarray(tuple(size), kind, unwritten(span, kind), 0, tuple(s * kind.itemsize for s in stride))


@made_by
def empty_permuted(size, physical_layout, dtype=None):
    if len(size) != len(physical_layout):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    return in_order(unwritten(tuple(size), dtype or Default.float), tuple(physical_layout))


# ---- counted


@made_by
def arange(*args, dtype=None, **named):
    start, end, step = map(number_of, bounds("arange", args, named))
    kind = dtype or (np.dtype(np.int64) if all(isinstance(n, int) for n in (start, end, step)) else Default.float)
    return counted(start, end, step, kind, range_length(start, end, step, kind))


def bounds(name, args, named):
    """(start, end, step) of the forms `(end)`, `(start, end)` and `(start, end, step)`."""
    given = dict(zip(("start", "end", "step") if len(args) > 1 else ("end",), args, strict=False)) | named
    if len(args) == 1 and "end" in named:
        given["start"] = args[0]
    if "end" not in given or len(args) > 3 or set(given) - {"start", "end", "step"}:
        raise TypeError(f"{name}(): arguments")
    return given.get("start", 0), given["end"], given.get("step", 1)


def range_length(start, end, step, kind, closed=False):
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if kind.kind == "b":
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    length = (end - start) // step + 1 if closed else math.ceil((end - start) / step)
    if abs(length) > 2**62:
        raise RuntimeError("invalid size, possible overflow?")
    return int(length)


def counted(start, end, step, kind, length):
    """start, start + step, …: floats in blocks, each from a rounded start of its own, and what is left over one by one."""
    if kind.kind != "f":
        return (int(start) + int(step) * np.arange(length, dtype=np.int64)).astype(kind)
    block, places, wide = 32 // kind.itemsize, np.arange(length), WIDER[kind.name]
    values = (wide(start) + wide(step) * places).astype(kind)
    blocks = length - length % (2 * block) if kind.itemsize > 2 else 0
    values[:blocks] = values[:blocks:block].repeat(block) + wide(step) * (places[:blocks] % block)
    return values


@made_by
def range_closed(start, end, step=1, dtype=None):
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range "
        "builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    kind = dtype or Default.float
    return counted(start, end, step, kind, range_length(start, end, step, kind, closed=True))


@made_by
def linspace(start, end, steps, dtype=None):
    start, end = ends("linspace", start, end)
    return spaced(start, end, operator.index(steps), dtype or spaced_dtype(start, end))


@made_by
def logspace(start, end, steps, base=10.0, dtype=None):
    start, end = ends("logspace", start, end)
    kind = dtype or spaced_dtype(start, end)
    exponents = spaced(start, end, operator.index(steps), np.dtype(np.float64) if kind.kind in "iu" else kind)
    return np.power(kind.type(base) if kind.kind in "fc" else float(base), exponents).astype(kind)


def ends(name, start, end):
    """The numbers that a range goes from and to; 0-d tensors will do."""
    given = {name: end.array for name, end in (("start", start), ("end", end)) if isinstance(end, Tensor)}
    if any(array.ndim for array in given.values()):
        found = " and ".join(f"{name} with {array.ndim} dimension(s)" for name, array in given.items())
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {found}.")
    return [number_of(end.detach() if isinstance(end, Tensor) else end) for end in (start, end)]


def spaced_dtype(start, end):
    return Default.complex if isinstance(start, complex) or isinstance(end, complex) else Default.float


def spaced(start, end, steps, kind):
    """Evenly spaced numbers, the second half counted down from the end, as PyTorch does: linspace(0, 1, 10)[7] is 1 - 2 * step."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if steps <= 1:
        return np.full(steps, start).astype(kind)
    work = kind if kind.kind in "fc" else np.dtype(np.float32)
    start, end = work.type(start), work.type(end)
    step, places = (end - start) / work.type(steps - 1), np.arange(steps)
    start, end, step = (
        n.astype(WIDER.get(work.name, work)) for n in (start, end, step)
    )  # one rounding in all, as a fused multiply-add has
    return np.where(places < steps // 2, start + step * places, end - step * (steps - 1 - places)).astype(kind)


WIDER = dict(float16=np.float64, float32=np.float64, float64=np.longdouble)


@made_by
def eye(n, m=None, dtype=None):
    n, m = operator.index(n), n if m is None else operator.index(m)
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return np.eye(n, m, dtype=dtype or Default.float)


@made_by
def tril_indices(row, col, offset=0, dtype=None):
    return np.stack(np.tril_indices(row, offset, col)).astype(dtype or np.int64)


@made_by
def triu_indices(row, col, offset=0, dtype=None):
    return np.stack(np.triu_indices(row, offset, col)).astype(dtype or np.int64)


@made_by
def scalar_tensor(s, dtype=None):
    return filled_with(np.empty((), dtype or Default.float), number_of(s))


# ---- from data

COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


def copied(data, kind, name):
    """A fresh array with the values of `data`."""
    if isinstance(data, Tensor):
        warn(COPY.format(name))
        return data.array.astype(kind or data.array.dtype)
    return array_of(data, kind)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False, names=None):
    """A new leaf with a copy of the data: a number, a nested sequence of numbers, an array or a tensor."""
    check_options(device, None)
    return fresh(copied(data, numpy_dtype(dtype), "torch.tensor"), requires_grad)


def as_tensor(data, dtype=None, device=None):
    """The data as a tensor, without a copy where it already is a tensor or an array of the dtype."""
    check_options(device, None)
    kind = numpy_dtype(dtype)
    if isinstance(data, Tensor):
        return data if kind is None or kind == data.array.dtype else data.to(dtype)
    if isinstance(data, np.ndarray) and kind in (None, data.dtype):
        return from_numpy(data)
    return fresh(array_of(data, kind))


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """The data as a tensor; `copy` asks for, or forbids, memory of its own. A tensor stays in its graph if it requires grad."""
    check_options(device, None)
    if isinstance(obj, (bytes, bytearray, memoryview)):
        obj = np.frombuffer(obj, numpy_dtype(dtype) or Default.float)
    result = as_tensor(obj, dtype)
    shares = result is obj or isinstance(obj, np.ndarray)
    if copy and shares:
        result = result.clone()
    if copy is False and not shares:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    if requires_grad is None or requires_grad == result.requires_grad:
        return result
    if requires_grad and result.array.dtype.kind not in "fc":
        raise RuntimeError(CANNOT_REQUIRE)
    return result.detach().requires_grad_(requires_grad)


def from_numpy(ndarray):
    """A tensor on the memory of an array: a write to either shows in both."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(ndarray)})")
    return fresh(from_array(ndarray))


def type_name(value):
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor on the memory of a buffer."""
    kind = numpy_dtype(dtype)
    try:
        length = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1")
    if count < 0 and (length - offset) % kind.itemsize:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({kind.itemsize})"
        )
    if count > 0 and offset + count * kind.itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {kind.itemsize} bytes) after offset ({offset} bytes) must not be greater than actual "
            f"buffer length ({length} bytes)"
        )
    return fresh(np.frombuffer(buffer, kind, count, offset), requires_grad)


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor on the bytes of a file; what is written to a shared one is written to the file."""
    kind = numpy_dtype(dtype) or Default.float
    if not isinstance(filename, (str, bytes)):
        return NotImplemented
    if not size:
        return fresh(np.zeros(0, kind), requires_grad)
    try:
        found, wanted = os.stat(filename).st_size, size * kind.itemsize
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(f"unable to open file <{filename}> in {mode} mode: {error.strerror} ({error.errno})") from None
    if found < wanted and not shared:
        raise RuntimeError(f"file <{filename}> size <{found}> is smaller than the required mapping size <{wanted}>")
    if found < wanted:
        os.truncate(filename, wanted)
    return fresh(np.asarray(np.memmap(filename, kind, "r+" if shared else "c", 0, (size,))), requires_grad)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor on the memory of another library's array."""
    if isinstance(ext_tensor, Tensor):
        return tensor_of(ext_tensor.array) if not copy else fresh(ext_tensor.array.copy())
    return fresh(np.from_dlpack(ext_tensor, copy=copy))


# ---- new_*: the dtype of a tensor


def new(maker):
    """A factory with the dtype of a tensor, as its method."""

    @wraps(maker)
    def factory(self, *args, dtype=None, device=None, layout=None, pin_memory=False, requires_grad=False, **rest):
        check_options(device, layout)
        return fresh(maker(*args, kind=numpy_dtype(dtype) or self.payload.dtype, **rest), requires_grad)

    return factory


@new
def new_zeros(*size, kind, **named):
    return np.zeros(shape_from("zeros", size, named), kind)


@new
def new_ones(*size, kind, **named):
    return np.ones(shape_from("ones", size, named), kind)


@new
def new_empty(*size, kind, **named):
    return unwritten(shape_from("empty", size, named), kind)


@new
def new_full(size, fill_value, *, kind):
    return filled_with(np.empty(check_sizes("full", (tuple(size),)), kind), number_of(fill_value))


@new
def new_tensor(data, *, kind):
    return copied(data, kind, "tensor.new_tensor") if not isinstance(data, np.ndarray) else array_of(data, kind)


@new
def new_empty_strided(size, stride, *, kind):
    return empty_strided.__wrapped__(size, stride, kind)


publish(
    globals(),
    functions="""tensor as_tensor asarray from_numpy frombuffer from_file zeros ones empty full zeros_like ones_like empty_like full_like
        empty_strided empty_permuted from_dlpack arange range:range_closed linspace logspace eye tril_indices triu_indices scalar_tensor""",
    methods="new_zeros new_ones new_empty new_full new_tensor new_empty_strided",
)
