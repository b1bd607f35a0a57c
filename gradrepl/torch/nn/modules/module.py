"""torch.nn.Module: a tree of parameters, buffers and children, that can be called.

How a call runs its hooks stands in nn/_calling.py, how a module is saved and loaded in nn/_state.py.
"""

__name__ = __name__.removeprefix("gradrepl.")

import itertools
from collections import OrderedDict

import gradrepl.torch.nn._calling as calling
import gradrepl.torch.nn._state as state
from gradrepl import torch
from gradrepl.engine.tensor import Tensor
from gradrepl.torch.nn._calling import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from gradrepl.torch.nn.parameter import Buffer, Parameter, is_lazy

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_IncompatibleKeys = state.IncompatibleKeys
TABLES = "_parameters", "_buffers", "_modules"
# what every module has from the start: attribute -> how it is made
HOOKS = dict(
    _backward_pre_hooks=OrderedDict,
    _backward_hooks=OrderedDict,
    _is_full_backward_hook=lambda: None,
    _forward_hooks=OrderedDict,
    _forward_hooks_with_kwargs=OrderedDict,
    _forward_hooks_always_called=OrderedDict,
    _forward_pre_hooks=OrderedDict,
    _forward_pre_hooks_with_kwargs=OrderedDict,
    _state_dict_hooks=OrderedDict,
    _state_dict_pre_hooks=OrderedDict,
    _load_state_dict_pre_hooks=OrderedDict,
    _load_state_dict_post_hooks=OrderedDict,
)
NO_INIT = "cannot assign {} before Module.__init__() call"
NON_LEAF = (
    "Cannot assign non-leaf Tensor to parameter '{0}'. Model parameters must be created explicitly. To express '{0}' as a function of "
    "another Tensor, compute the value in the forward() method."
)


def _addindent(text, spaces):
    """Indent all lines but the first."""
    return text.replace("\n", "\n" + spaces * " ")


def _forward_unimplemented(self, *input):
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module:
    """The base of all neural network modules.

    >>> from gradrepl import torch
    >>> torch.nn.Linear(2, 3)
    Linear(in_features=2, out_features=3, bias=True)
    """

    dump_patches = False
    _version = 1
    training: bool
    call_super_init = False
    _compiled_call_impl = None
    forward = _forward_unimplemented

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        place = self.__dict__
        place.update(training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set())
        for name, make in HOOKS.items():
            place[name] = make()
        place["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- calling

    _call_impl = calling.call
    __call__ = _wrapped_call_impl = calling.wrapped_call
    register_forward_hook = calling.register_forward_hook
    register_forward_pre_hook = calling.register_forward_pre_hook
    register_backward_hook = calling.register_backward_hook
    register_full_backward_hook = calling.register_full_backward_hook
    register_full_backward_pre_hook = calling.register_full_backward_pre_hook

    # ---- saving and loading

    state_dict = state.state_dict
    load_state_dict = state.load_state_dict
    _save_to_state_dict = state.save_to_state_dict
    _load_from_state_dict = state.load_from_state_dict
    register_state_dict_post_hook = state.register_state_dict_post_hook
    register_state_dict_pre_hook = state.register_state_dict_pre_hook
    register_load_state_dict_pre_hook = state.register_load_state_dict_pre_hook
    register_load_state_dict_post_hook = state.register_load_state_dict_post_hook
    _register_state_dict_hook = state.register_state_dict_hook
    _register_load_state_dict_pre_hook = state.register_load_pre_hook
    get_extra_state = state.get_extra_state
    set_extra_state = state.set_extra_state

    def __setstate__(self, values):
        self.__dict__.update(values)
        for name, make in HOOKS.items():
            self.__dict__.setdefault(name, make())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())

    # ---- attributes

    def __getattr__(self, name):
        place = self.__dict__
        if "_parameters" in place and name in (found := place["_parameters"]):
            return found[name]
        if "_buffers" in place and name in (found := place["_buffers"]):
            return found[name]
        if "_modules" in place and name in (found := place["_modules"]):
            return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if isinstance(value, Parameter):
            self.claim(name, "parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self.claim(name, "module")
            self._modules[name] = calling.registered("modules", self, name, value)
        elif name in self.__dict__.get("_parameters", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{torch.typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, value)
        elif name in self.__dict__.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{torch.typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            self._modules[name] = calling.registered("modules", self, name, value)
        elif isinstance(value, Buffer) or name in self.__dict__.get("_buffers", ()):
            self.set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def claim(self, name, what):
        """Make room for a parameter or module of this name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(NO_INIT.format(what))
        for place in (self.__dict__, self._buffers, self._modules, self._parameters):
            if not (what == "parameters" and place is self._parameters or what == "module" and place is self._modules):
                place.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def set_buffer(self, name, value):
        if value is not None and not isinstance(value, Tensor):
            kinds = "torch.nn.Buffer, torch.Tensor or None expected"
            raise TypeError(f"cannot assign '{torch.typename(value)}' as buffer '{name}' ({kinds})")
        if isinstance(value, Buffer):
            for place in (self.__dict__, self._parameters, self._modules, self._buffers):
                place.pop(name, None)
            self.register_buffer(name, value, value.persistent)
        else:
            self._buffers[name] = calling.registered("buffers", self, name, value)

    def __delattr__(self, name):
        for table in TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self):
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    # ---- registration

    def check_name(self, name, what, table):
        if table not in self.__dict__:
            raise AttributeError(NO_INIT.format(what))
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {torch.typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + f", got: {name}" * (what == "module"))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name, tensor, persistent=True):
        self.check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{torch.typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = calling.registered("buffers", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_parameter(self, name, param):
        self.check_name(name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{torch.typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        if param is not None and param.grad_fn:
            raise ValueError(NON_LEAF.format(name))
        self._parameters[name] = calling.registered("parameters", self, name, param)

    def add_module(self, name, module):
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{torch.typename(module)} is not a Module subclass")
        self.check_name(name, "module", "_modules")
        self._modules[name] = calling.registered("modules", self, name, module)

    def register_module(self, name, module):
        self.add_module(name, module)

    # ---- finding by a dotted path

    def get_submodule(self, target):
        module = self
        for item in target.split(".") if target else ():
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, Module):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        return self.get_member(target, lambda module, name: isinstance(getattr(module, name), Parameter), "an nn.Parameter")

    def get_buffer(self, target):
        return self.get_member(target, lambda module, name: name in module._buffers, "a buffer")

    def get_member(self, target, fits, kind):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if not fits(module, name):
            raise AttributeError(f"`{name}` is not {kind}")
        return getattr(module, name)

    # ---- walking

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + "." * bool(prefix) + name, remove_duplicate)

    def modules(self, remove_duplicate=True):
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        return (module for _, module in self.named_children())

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]:
            for name, member in get_members_fn(module):
                if member is not None and member not in seen:
                    if remove_duplicate:
                        seen.add(member)
                    yield path + "." * bool(path) + name, member

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # ---- changing everything at once

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        """Put every parameter, its gradient and every buffer through `fn`; the parameters keep their identity."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            with torch.no_grad():
                data, grad = fn(parameter.data), parameter.grad
                if torch.__future__._overwrite_module_params_on_conversion:
                    parameter = self._parameters[name] = Parameter(data, parameter.requires_grad)
                else:
                    parameter.data = data
                if grad is not None:
                    parameter.grad = fn(grad).requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        device, dtype, non_blocking = parsed(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

        def convert(tensor):
            fits = tensor.data.is_floating_point() or tensor.data.is_complex()
            return tensor.to(device, dtype if fits else None, non_blocking)

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        return self._apply(lambda tensor: torch.empty_like(tensor, device=device), recurse=recurse)

    def type(self, dst_type):
        return self._apply(lambda tensor: tensor.type(dst_type))

    float = lambda self: self._apply(lambda tensor: tensor.float() if tensor.is_floating_point() else tensor)
    double = lambda self: self._apply(lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)
    half = lambda self: self._apply(lambda tensor: tensor.half() if tensor.is_floating_point() else tensor)
    bfloat16 = lambda self: self._apply(lambda tensor: tensor.bfloat16() if tensor.is_floating_point() else tensor)
    cpu = lambda self: self._apply(lambda tensor: tensor.cpu())
    cuda = lambda self, device=None: self._apply(lambda tensor: tensor.cuda(device))
    xpu = lambda self, device=None: self._apply(lambda tensor: tensor.xpu(device))
    share_memory = lambda self: self._apply(lambda tensor: tensor.share_memory_())

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters():
            if parameter.grad is not None and set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.detach_() if parameter.grad.grad_fn is not None else parameter.grad.requires_grad_(False)
                parameter.grad.zero_()

    def compile(self, *args, **kwargs):
        """Accepted: the module runs as it is."""
        torch.compile(self._call_impl, *args, **kwargs)

    # ---- showing

    def _get_name(self):
        return self.__class__.__name__

    def extra_repr(self):
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = "\n  ".join(lines + children)
        return f"{self._get_name()}(" + (f"\n  {body}\n" if body else "") + ")"


def parsed(*args, device=None, dtype=None, non_blocking=False, tensor=None, memory_format=None):
    """What `to` was asked for: (device, dtype, non_blocking)."""
    for arg in args:
        if isinstance(arg, Tensor):
            device, dtype = arg.device, arg.dtype
        elif isinstance(arg, torch.dtype):
            dtype = arg
        elif isinstance(arg, bool):
            non_blocking = arg
        elif arg is not None:
            device = torch.device(arg)
    return device if device is None else torch.device(device), dtype, non_blocking
