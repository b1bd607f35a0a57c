"""From tensors to other dtypes, to Python and to NumPy. Imports the engine's declarations."""

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.dtypes import ALIASES, CPU, DTYPES, OF_PYTHON, check_device, dtype
from gradrepl.engine.factories import fresh, numpy_dtype
from gradrepl.engine.layout import format_name, suggested_format
from gradrepl.engine.mirrors import CONJUGATE, sign_of
from gradrepl.engine.modes import here
from gradrepl.engine.names import NAMES
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of

NO_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to "
    "rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch internals, please file a bug report."
)
NO_BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. "
    "We don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)

CONVERTING = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first."
)
SIGNED = "Can't call numpy() on Tensor that has {0} bit set. Use tensor.{1}().numpy() instead."
REQUIRES = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
# dtype -> the name of the tensor type of old
TYPES = dict(
    float16="Half", float32="Float", float64="Double", bfloat16="BFloat16", uint8="Byte", int8="Char", int16="Short", int32="Int",
    int64="Long", bool="Bool", complex64="ComplexFloat", complex128="ComplexDouble", uint16="UInt16", uint32="UInt32", uint64="UInt64",
)  # fmt: skip
OF_TYPE = {f"torch.{kind}Tensor": DTYPES[name] for name, kind in TYPES.items()}


KIND = dtype  # where a parameter has its name


def cast(self, kind, copy=False, memory_format=None):
    """The tensor in another NumPy dtype: itself where nothing changes."""
    name = format_name(memory_format)
    if kind == self.array.dtype and not copy and name in ("preserve_format", suggested_format(self.array)):
        return self
    if self.array.dtype.kind == "c" and kind.kind not in "cb":
        warn_once("Casting complex values to real discards the imaginary part", "Copy.cpp:309")
    return NAMES["to_copy"](self if kind.kind in "fc" else tensor_of(self.array), kind, name)


def to(self, *args, **named):
    """Another dtype or device: `to(dtype)`, `to(device, dtype)`, `to(other)`, each with keywords."""
    first = args[0] if args else None
    if isinstance(first, Tensor) or "tensor" in named:
        return to_tensor(self, *args, **named)
    if isinstance(first, dtype) or isinstance(first, type) and first in OF_PYTHON:
        return to_dtype(self, *args, **named)
    return to_device(self, *args, **named)


def to_tensor(self, tensor, non_blocking=False, copy=False, *, memory_format=None):
    return cast(self, tensor.array.dtype, copy, memory_format)


def to_dtype(self, dtype, non_blocking=False, copy=False, *, memory_format=None, device=None):
    return to_device(self, device, dtype, non_blocking, copy, memory_format=memory_format)


def to_device(self, device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None):
    if device is not None:
        check_device(device, making=False)
    return cast(self, numpy_dtype(dtype) or self.array.dtype, copy, memory_format)


def converter(name):
    """`x.double()` and the like."""
    kind = np.dtype(name)

    def convert(self, *, memory_format=None):
        return cast(self, kind, memory_format=memory_format)

    return convert


CONVERTERS = dict(ALIASES, bool="bool", byte="uint8", char="int8")
for short in ("chalf", "bit"):
    del CONVERTERS[short]  # dtypes without arrays


def type_as(self, other):
    return cast(self, other.array.dtype)


def type_(self, dtype=None, non_blocking=False, **kwargs):
    """The name of the tensor type, or the tensor in another type."""
    if dtype is None:
        return f"torch.{TYPES[self.array.dtype.name]}Tensor"
    if isinstance(dtype, str):
        if dtype not in OF_TYPE:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = OF_TYPE[dtype]
    if not isinstance(dtype, (KIND, type)):
        raise TypeError("dtype must be a type, str, or dtype object")
    dtype = getattr(dtype, "dtype", dtype)
    if not isinstance(dtype, KIND):
        raise ValueError(f"invalid type: '{dtype.__name__}'")
    return cast(self, dtype.array)


def cpu(self, memory_format=None):
    return self


def cuda(self, device=None, non_blocking=False, memory_format=None):
    check_device("cuda" if device is None else device)
    return self


def xpu(self, device=None, non_blocking=False, memory_format=None):
    raise AssertionError("Torch not compiled with XPU enabled")


# ---- to Python


def item(self):
    array = self.array
    if here.mapping and type(array) is not np.ndarray:
        raise RuntimeError(NO_ITEM)
    if array.size != 1:
        raise RuntimeError(f"a Tensor with {array.size} elements cannot be converted to Scalar")
    return array.item()


def scalar(self):
    if self.array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    if self.needs_grad and self.requires_grad:
        warn_once(CONVERTING, "torch/csrc/autograd/generated/python_variable_methods.cpp:822")
    return item(self)


def real_scalar(self, kind):
    """A Python number that is not complex; `kind` is the C++ type that PyTorch names."""
    value = scalar(self)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
        return value.real
    return value


def to_int(self):
    return int(real_scalar(self, "int64_t"))


def to_python_float(self):
    return float(real_scalar(self, "double"))


def to_complex(self):
    return complex(scalar(self))


def to_index(self):
    if self.array.size != 1 or self.array.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.array.item())


def truth(self):
    if here.mapping and type(self.array) is not np.ndarray:
        raise RuntimeError(NO_BRANCH)
    if self.array.size == 1:
        return bool(self.array.item())
    if self.array.size == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")


def length(self):
    if not self.array.ndim:
        raise TypeError("len() of a 0-d tensor")
    return len(self.array)


def iterate(self):
    if not self.array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def backwards(self):
    return self.flip(0) if self.array.ndim else self


def contains(self, element):
    if isinstance(element, (Tensor, int, float, complex)):
        return bool((self.array == (element.array if isinstance(element, Tensor) else element)).any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


def tolist(self):
    return self.payload.tolist()


# ---- to NumPy


def numpy(self, *, force=False):
    """The array itself: a write to either shows in both. `force` detaches first."""
    if self.needs_grad and here.grad and self.requires_grad and not force:
        raise RuntimeError(REQUIRES)
    if not force and (sign := sign_of(self)):
        raise RuntimeError(SIGNED.format(*("conjugate", "resolve_conj") if sign & CONJUGATE else ("negative", "resolve_neg")))
    return self.payload


def to_array(self, dtype=None, copy=None):
    array = numpy(self)
    return array if dtype is None else array.astype(dtype, copy=False)


def array_wrap(self, array, context=None, return_scalar=False):
    """What a NumPy function makes of a tensor is a tensor again."""
    array = np.asarray(array)
    return fresh(array.astype(np.uint8) if array.dtype == bool else array)


for name, value in dict(device=property(lambda self: CPU), __array_priority__=1000).items():
    setattr(Tensor, name, value)
publish({name: converter(kind) for name, kind in CONVERTERS.items()}, methods=" ".join(CONVERTERS))
publish(
    globals(),
    methods="""to type:type_ type_as cpu cuda xpu item tolist numpy
        __int__:to_int __float__:to_python_float __complex__:to_complex __index__:to_index __bool__:truth __len__:length __iter__:iterate
        __reversed__:backwards __contains__:contains __array__:to_array __array_wrap__:array_wrap""",
)
