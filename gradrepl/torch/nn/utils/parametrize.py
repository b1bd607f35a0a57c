"""torch.nn.utils.parametrize: a parameter computed from others each time it is asked for."""

__name__ = __name__.removeprefix("gradrepl.")

import copy
from contextlib import contextmanager

from gradrepl import torch
from gradrepl.torch.nn.modules.container import Module, ModuleDict, ModuleList
from gradrepl.torch.nn.parameter import Parameter

__all__ = """cached ParametrizationList register_parametrization is_parametrized remove_parametrizations type_before_parametrizations
    transfer_parametrizations_and_params""".split()
_cache_enabled = 0
_cache: dict = {}
NO_SERIALIZATION = (
    "Serialization of parametrized modules is only supported through state_dict(). See:\n"
    "https://pytorch.org/tutorials/beginner/saving_loading_models.html#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-"
    "training"
)
CHANGED = "Registering a parametrization may not change the {0} of the tensor, unless {1} flag is enabled.\n{2}.{0}: {3}\n{4}.{0}: {5}"
RETURNED = (
    "The tensor returned by parametrization.right_inverse must have the same {0} as module.{1}, unless the `unsafe` flag is enabled.\n"
    "module.{1}.{0}: {2}\nreturned {0}: {3}"
)


@contextmanager
def cached():
    """Compute every parametrized tensor once within `with`."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register_parameter_or_buffer(module, name, tensor):
    (module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer)(name, tensor)


def _maybe_set(dest, src):
    dest.data = src.data if isinstance(src, torch.Tensor) else src


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors it is computed from."""

    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self.inverted(original, modules)
        self.is_tensor = isinstance(new, torch.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self.place_one(original, new)
        else:
            self.place_several(original, new)
        if not unsafe:
            self.check_result(shape, dtype)

    def inverted(self, original, modules):
        new = original
        with torch.no_grad():
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass  # it says so itself: the tensor stays
        if not isinstance(new, torch.Tensor) and not isinstance(new, (list, tuple)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(new).__name__}")
        return new

    def place_one(self, original, new):
        if original.dtype != new.dtype:
            raise ValueError(
                f"When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: {original.dtype}\n"
                f"right_inverse(original).dtype: {new.dtype}"
            )
        with torch.no_grad():
            original.data = new.data
        _register_parameter_or_buffer(self, "original", original)

    def place_several(self, original, new):
        for place, tensor in enumerate(new):
            if not isinstance(tensor, torch.Tensor):
                raise ValueError(
                    f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element {place} of the sequence "
                    f"with type {type(tensor).__name__}."
                )
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _register_parameter_or_buffer(self, f"original{place}", tensor)

    def check_result(self, shape, dtype):
        result = self()
        if not isinstance(result, torch.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def originals(self):
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Assign: the originals become what gives this value."""
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self.assign_one(value)
            else:
                self.assign_several(value)

    def assign_one(self, value):
        if not isinstance(value, torch.Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        if value.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype {self.original.dtype}"
            )
        _maybe_set(self.original, value)

    def assign_several(self, value):
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(value)}."
            )
        for place, (tensor, original) in enumerate(zip(value, self.originals())):
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {place} returned by `right_inverse` has dtype "
                    f"{tensor.dtype} while `original{place}` has dtype {original.dtype}"
                )
            _maybe_set(original, tensor)

    def forward(self):
        first, *rest = self
        x = first(self.original) if self.is_tensor else first(*self.originals())
        for module in rest:
            x = module(x)
        return x


# ---- the module's class


def _inject_new_class(module):
    """Give the module a class of its own, to hold the properties."""
    base = type(module)

    def refuse(self):
        raise RuntimeError(NO_SERIALIZATION)

    body = {"__getstate__": refuse, "__deepcopy__": deepcopied}
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), {**body, "__module__": __name__})


def deepcopied(self, memo):
    replica = self.__new__(type(self))
    memo[id(self)] = replica
    replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return replica


def _inject_property(module, tensor_name):
    def get(self):
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = id(self), tensor_name
        if key not in _cache:
            _cache[key] = self.parametrizations[tensor_name]()
        return _cache[key]

    def set_to(self, value):
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(get, set_to))


def check_parametrization(module, tensor_name, parametrization):
    """Shape and dtype must stay through the parametrization and back."""
    before = getattr(module, tensor_name)
    after = parametrization(before)
    if not isinstance(after, torch.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    where = f"module.{tensor_name}", f"parametrization(module.{tensor_name})"
    for what in ("dtype", "shape"):
        if getattr(before, what) != getattr(after, what):
            pair = getattr(before, what), getattr(after, what)
            raise ValueError(CHANGED.format(what, "the `unsafe`", where[0], pair[0], where[1], pair[1]))
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, torch.Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        if getattr(before, what) != getattr(back, what):
            raise ValueError(RETURNED.format(what, tensor_name, getattr(before, what), getattr(back, what)))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            check_parametrization(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    return module


def is_parametrized(module, tensor_name=None):
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with torch.no_grad():
                value = getattr(module, tensor_name)
            original.data = value.data
    elif leave_parametrized:
        value = getattr(module, tensor_name).detach()
        original = Parameter(value) if value.requires_grad or any(isinstance(t, Parameter) for t in parametrizations.originals()) else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    return module


def type_before_parametrizations(module):
    return module.__class__.__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Give another module the same parametrizations, and the tensors they start from."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
        mine, theirs = to_module.parametrizations[name], from_module.parametrizations[name]
        if hasattr(theirs, "original"):
            mine.original = theirs.original
        else:
            for place in range(theirs.ntensors):
                setattr(mine, f"original{place}", getattr(theirs, f"original{place}"))
    return to_module
