"""torch.nn.parameter: tensors that a module owns. Imports the engine's tensor."""

__name__ = __name__.removeprefix("gradrepl.")

from collections import OrderedDict

from gradrepl import torch
from gradrepl.engine.subclasses import _disabled_torch_function_impl
from gradrepl.engine.tensor import Tensor, tensor_of


def on(data, kind, requires_grad):
    """A tensor of another class on the same storage, outside the graph."""
    made = tensor_of(data.detach().array, kind)
    if requires_grad and made.array.dtype.kind not in "fcV":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return made.requires_grad_(requires_grad) if requires_grad else made


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module it is assigned to."""

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        return on(torch.empty(0) if data is None else data, cls, requires_grad)

    def __init__(self, data=None, requires_grad=True):
        pass

    def __repr__(self):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = copy_of = type(self)(self.data.clone(), self.requires_grad)
            copy_of.__dict__.update(self.__dict__)
            copy_of.grad = None if self.grad is None else self.grad.clone()
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict())


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module it is assigned to."""

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data=None, *, persistent=True):
        made = on(torch.empty(0) if data is None else data, cls, data is not None and data.requires_grad)
        made.persistent = persistent
        return made

    def __init__(self, data=None, *, persistent=True):
        pass


def _rebuild_parameter(data, requires_grad, backward_hooks):
    return Parameter(data, requires_grad)


NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to load "
    "an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing their attributes."
)


UNINITIALIZED = (
    "Attempted to use an uninitialized parameter in {}. This error happens when you are using a `LazyModule` or explicitly manipulating "
    "`torch.nn.parameter.{}` objects. When using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling "
    "torch functions"
)
NOT_SHARED = (
    "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before calling "
    "`module.share_memory()`."
)


class UninitializedTensorMixin:
    """What a lazy module holds until its first input tells the shape."""

    def materialize(self, shape, device=None, dtype=None):
        self.data = torch.empty(shape, dtype=dtype or self.data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(NO_SHAPE)

    def numel(self):
        raise ValueError(UNINITIALIZED.format("<method 'numel' of 'torch._C.TensorBase' objects>", type(self).__name__))

    def share_memory_(self):
        raise RuntimeError(NOT_SHARED)

    def __repr__(self):
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return on(torch.empty(0, dtype=dtype), cls, requires_grad)

    def __init__(self, requires_grad=True, device=None, dtype=None):
        pass

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, None, self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    __torch_function__ = _disabled_torch_function_impl
    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        made = on(torch.empty(0, dtype=dtype), cls, requires_grad)
        made.persistent = persistent
        return made

    def __init__(self, requires_grad=False, device=None, dtype=None, persistent=True):
        pass


def is_lazy(tensor):
    return isinstance(tensor, UninitializedTensorMixin)
