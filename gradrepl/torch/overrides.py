"""torch.overrides: asking who overrides PyTorch's functions."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.arguments import flattened
from gradrepl.engine.subclasses import handle_torch_function, has_own_torch_function
from gradrepl.engine.tensor import Tensor
from gradrepl.torch._C import DisableTorchFunctionSubclass


def has_torch_function(relevant_args):
    return any(map(has_own_torch_function, flattened(relevant_args)))


def has_torch_function_unary(obj):
    return has_own_torch_function(obj)


def has_torch_function_variadic(*args):
    return has_torch_function(args)


def is_tensor_like(inp):
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    return func in get_tensor_methods() or getattr(func, "__name__", None) == "__get__"


def get_tensor_methods():
    return {value for value in vars(Tensor).values() if callable(value)}


def get_overridable_functions():
    from gradrepl import torch
    from gradrepl.engine.public import FUNCTIONS

    return {torch: [f for f in FUNCTIONS.values() if callable(f)], torch.Tensor: sorted(get_tensor_methods(), key=repr)}


def resolve_name(f):
    home = "torch.Tensor." if f in get_tensor_methods() else "torch."
    return home + f.__name__
