"""The constructors of old: `torch.Tensor(2, 3)`, `torch.LongTensor([1])`, `x.new(2)`. Imports factories, data and tensor."""

import numpy as np

from gradrepl.engine.conversions import TYPES
from gradrepl.engine.data import array_of, is_sequence
from gradrepl.engine.dtypes import DTYPES, Default, Size, check_device, set_default_dtype
from gradrepl.engine.factories import check_sizes, fresh
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.public import FUNCTIONS, publish
from gradrepl.engine.tensor import Tensor, tensor_of

OPTIONS = (
    "TensorOptions(dtype={}, device=cpu, layout=Strided, requires_grad=false "
    "(default), pinned_memory=false (default), memory_format=(nullopt))"
)


def legacy(args, kind, strict=False):
    """The array that `new(*args)` stands for: sizes, data, or another tensor's own; `strict` refuses another dtype."""
    first = args[0] if args else None
    if not args:
        return np.empty(0, kind)
    if len(args) == 1 and isinstance(first, Tensor):
        if strict and first.array.dtype != kind:
            expected, got = (OPTIONS.format(SCALAR_TYPES[name]) for name in (kind.name, first.array.dtype.name))
            raise TypeError(f"expected {expected} (got {got})")
        return first.array
    if isinstance(first, (Size, int, np.integer)) and not isinstance(first, bool):
        return np.zeros(check_sizes("new", args), kind)
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    if not is_sequence(first):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    return array_of(first, kind)


def new_tensor(cls, *args, device=None, **named):
    """`torch.Tensor(…)`: uninitialised of some size, or with some data, in the default dtype."""
    if device is not None:
        check_device(device)
    if named:
        args = (*args, *[named.pop(name) for name in ("data", "size", "other") if name in named])
    array = legacy(args, Default.float)
    made = tensor_of(array, cls)
    if len(args) == 1 and isinstance(args[0], Tensor):
        made.counter = args[0].share_counter()
    return made


def new(self, *args, device=None):
    return fresh(legacy(args, self.array.dtype, strict=True))


class tensortype(type):
    """The class of `torch.LongTensor` and its like: names for dtypes, which no tensor is an instance of."""

    __module__ = "torch"

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *args, device=None):
        return fresh(legacy(args, cls.dtype.array, strict=True))


def typed(name, letter):
    return tensortype(f"{letter}Tensor", (), dict(__module__="torch", dtype=DTYPES[name], __doc__=f"Tensors of dtype torch.{name}."))


def set_default_tensor_type(t):
    """The dtype of floats, by the name of a tensor type."""
    name = t.rpartition(".")[2] if isinstance(t, str) else t.__name__
    if name not in FUNCTIONS:
        raise TypeError(f"invalid type object: {t}")
    set_default_dtype(FUNCTIONS[name].dtype)


setattr(Tensor, "__new__", staticmethod(new_tensor))  # noqa: B010 (a method is given, not an attribute)
UNNAMED = "bfloat16 uint16 uint32 uint64 complex64 complex128".split()  # dtypes without a tensor type of their own
TYPED = {f"{letter}Tensor": typed(name, letter) for name, letter in TYPES.items() if name not in UNNAMED}
publish(TYPED, functions=" ".join(TYPED))
publish(globals(), functions="set_default_tensor_type", methods="new")
