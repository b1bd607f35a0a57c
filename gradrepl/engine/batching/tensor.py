"""A tensor with a dimension that its user does not see. Imports tensor."""

import math

from gradrepl.engine.modes import here
from gradrepl.engine.subclasses import _disabled_torch_function_impl
from gradrepl.engine.tensor import DETACH_VIEW, Batched, Tensor, new


def refuse(*_, **__):
    raise Batched


class Outline:
    """What is known of one example's array without its values: asked for those, it raises `Batched`."""

    __slots__ = ("shape", "dtype", "strides")
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)

    def __init__(self, array, bdim):
        self.shape, self.dtype = array.shape[:bdim] + array.shape[bdim + 1 :], array.dtype
        self.strides = array.strides[:bdim] + array.strides[bdim + 1 :]

    @property
    def flags(self):
        """As of an array that lies like this: only whether it is contiguous can be asked."""
        return Flags(self)

    def __len__(self):
        return self.shape[0]

    __getattr__ = __array__ = __array_ufunc__ = __array_function__ = __getitem__ = __setitem__ = __iter__ = __bool__ = refuse


for (
    name
) in """add sub mul truediv floordiv mod pow matmul and or xor lshift rshift radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rand ror
    rxor eq ne lt le gt ge neg pos abs invert int float complex index contains iadd isub imul itruediv iand ior ixor""".split():
    setattr(Outline, f"__{name}__", refuse)


class Flags:
    """Whether what lies like an outline is contiguous."""

    __slots__ = ("c_contiguous",)

    def __init__(self, outline):
        expected, self.c_contiguous = outline.itemsize, True
        for n, stride in zip(outline.shape[::-1], outline.strides[::-1]):
            if n != 1 and stride != expected:
                self.c_contiguous = 0 in outline.shape
            expected *= n

    contiguous = property(lambda self: self.c_contiguous)


def passed_on(name):
    """A slot that is the wrapped tensor's."""
    return property(lambda self: getattr(self.value, name), lambda self, value: setattr(self.value, name, value))


def no_data(*_):
    raise RuntimeError("accessing `data` under vmap transform is not allowed")


class BatchedTensor(Tensor):
    """The dimension `bdim` of `value` is the batch of the vmap at `level`. Its place in the graph is that of `value`."""

    __module__ = "torch"
    __slots__ = ("value", "bdim", "level", "outline")
    __torch_function__ = _disabled_torch_function_impl
    __hash__ = Tensor.__hash__
    payload = property(refuse)
    needs_grad, node, output_nr = passed_on("needs_grad"), passed_on("node"), passed_on("output_nr")
    counter, origin, extras = passed_on("counter"), passed_on("origin"), passed_on("extras")
    # to the function that is mapped, gradients that flow outside are nothing; only a transform inside makes them its own
    requires_grad = property(lambda self: self.tracked and self.value.requires_grad)
    grad_fn = property(lambda self: self.value.grad_fn if self.tracked else None)
    data = property(no_data, no_data)
    tracked = property(lambda self: here.transforms - here.mapping > 0 and self.level < here.transforms)

    @property
    def array(self):
        return self.outline

    def detach_(self):
        raise RuntimeError(DETACH_VIEW)

    def storage(self):
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")

    untyped_storage = _typed_storage = storage

    def __deepcopy__(self, memo):
        return self.storage()

    def alias(self):
        return wrapped(self.value.alias(), self.bdim, self.level)


BatchedTensor.__name__ = BatchedTensor.__qualname__ = "Tensor"


def wrapped(value, bdim, level):
    tensor = new(BatchedTensor)
    tensor.value, tensor.bdim, tensor.level = value, bdim, level
    tensor.outline = Outline(value.array, bdim)
    return tensor


def physical(tensor):
    """What is under all levels."""
    while isinstance(tensor, BatchedTensor):
        tensor = tensor.value
    return tensor


def highest(values):
    """The innermost level among tensors and lists of them, 0 if none is batched."""
    level = 0
    for value in values:
        if isinstance(value, BatchedTensor):
            level = max(level, value.level)
        elif isinstance(value, (tuple, list)):
            level = max(level, highest(value))
    return level
