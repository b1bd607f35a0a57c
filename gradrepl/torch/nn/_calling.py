"""How a module is called: its hooks around `forward`, in PyTorch's order. Imports utils.hooks."""

__name__ = "torch.nn.modules.module"

import warnings
from collections import OrderedDict

from gradrepl.engine.tensor import Tensor
from gradrepl.torch.utils.hooks import BackwardHook, RemovableHandle

PLAIN_AND_FULL = "Cannot use both regular backward hooks and full backward hooks on {}. Please use only one of them."
BAD_PRE_HOOK = "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {}."
BAD_OUTPUT = "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {}"
SILENCED = (
    "{}module forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised in forward: {}"
)


class Global:
    """The hooks of all modules."""

    forward_pre: OrderedDict = OrderedDict()
    forward: OrderedDict = OrderedDict()
    forward_with_kwargs: OrderedDict = OrderedDict()
    always_called: OrderedDict = OrderedDict()
    backward_pre: OrderedDict = OrderedDict()
    backward: OrderedDict = OrderedDict()
    is_full: bool | None = None
    registration: dict[str, OrderedDict] = dict(parameters=OrderedDict(), buffers=OrderedDict(), modules=OrderedDict())


FORWARD_PRE, FORWARD, BACKWARD_PRE, BACKWARD = Global.forward_pre, Global.forward, Global.backward_pre, Global.backward


def hook_into(table, hook, *flags, prepend=False):
    """Put a hook into its table, and its number into the flags' tables."""
    handle = RemovableHandle(table, extra_dict=[flag for flag, _ in flags])
    table[handle.id] = hook
    for flag, is_set in flags:
        if is_set:
            flag[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def registered(kind, module, name, value):
    """What the global registration hooks make of a value."""
    for hook in Global.registration[kind].values():
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


# ---- Module's methods


def wrapped_call(self, *args, **kwargs):
    if (
        self._forward_hooks
        or self._forward_pre_hooks
        or self._backward_hooks
        or self._backward_pre_hooks
        or FORWARD_PRE
        or FORWARD
        or BACKWARD_PRE
        or BACKWARD
        or type(self)._call_impl is not call
    ):
        return self._call_impl(*args, **kwargs)
    return self.forward(*args, **kwargs)


def call(self, *args, **kwargs):
    """Run the pre-hooks, forward, the hooks; hooks with always_call run even if something raised."""
    called = set()
    try:
        return run(self, args, kwargs, called)
    except Exception:
        run_always_called(self, args, kwargs, called)
        raise


def run(self, args, kwargs, called):
    full, plain = backward_hooks(self)
    pre = [*Global.backward_pre.values(), *self._backward_pre_hooks.values()]
    args, kwargs = before_forward(self, args, kwargs)
    around = BackwardHook(self, full, pre) if full or pre else None
    args = around.setup_input_hook(args) if around else args
    result = after_forward(self, args, kwargs, self.forward(*args, **kwargs), called)
    if around:
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(BAD_OUTPUT.format(type(result)), stacklevel=4)
        result = around.setup_output_hook(result)
    if plain:
        hang_plain_hooks(self, plain, result)
    return result


def backward_hooks(self):
    """(full hooks, plain ones)"""
    full, plain = [], []
    for is_full, table in ((Global.is_full, Global.backward), (self._is_full_backward_hook, self._backward_hooks)):
        (full if is_full else plain).extend(table.values())
    return full, plain


def before_forward(self, args, kwargs):
    for number, hook in (*Global.forward_pre.items(), *self._forward_pre_hooks.items()):
        if number in self._forward_pre_hooks_with_kwargs:
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(BAD_PRE_HOOK.format(changed))
                args, kwargs = changed
        else:
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def after_forward(self, args, kwargs, result, called):
    for number, hook in (*Global.forward.items(), *self._forward_hooks.items()):
        called.add(number)
        changed = call_hook(self, number, hook, args, kwargs, result)
        result = result if changed is None else changed
    return result


def call_hook(self, number, hook, args, kwargs, result):
    if number in self._forward_hooks_with_kwargs or number in Global.forward_with_kwargs:
        return hook(self, args, kwargs, result)
    return hook(self, args, result)


def run_always_called(self, args, kwargs, called):
    for scope, flags, table in (
        ("global ", Global.always_called, Global.forward),
        ("", self._forward_hooks_always_called, self._forward_hooks),
    ):
        for number, hook in tuple(table.items()):
            if number in flags and number not in called:
                try:
                    call_hook(self, number, hook, args, kwargs, None)
                except Exception as error:
                    warnings.warn(SILENCED.format(scope, error), stacklevel=5)


def hang_plain_hooks(self, hooks, result):
    """The old kind of backward hook sees the gradients of the node that made the output."""
    output = result
    while not isinstance(output, Tensor):
        output = next(v for v in output.values() if isinstance(v, Tensor)) if isinstance(output, dict) else output[0]
    if output.grad_fn is not None:
        for hook in hooks:
            output.grad_fn.register_hook(lambda grad_input, grad_output, hook=hook: hook(self, grad_input, grad_output))


def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
    flags = (self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call)
    return hook_into(self._forward_hooks, hook, *flags, prepend=prepend)


def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
    return hook_into(self._forward_pre_hooks, hook, (self._forward_pre_hooks_with_kwargs, with_kwargs), prepend=prepend)


def register_backward_hook(self, hook):
    if self._is_full_backward_hook is True:
        raise RuntimeError(PLAIN_AND_FULL.format("a single Module"))
    self._is_full_backward_hook = False
    return hook_into(self._backward_hooks, hook)


def register_full_backward_hook(self, hook, prepend=False):
    if self._is_full_backward_hook is False:
        raise RuntimeError(PLAIN_AND_FULL.format("a single Module"))
    self._is_full_backward_hook = True
    return hook_into(self._backward_hooks, hook, prepend=prepend)


def register_full_backward_pre_hook(self, hook, prepend=False):
    return hook_into(self._backward_pre_hooks, hook, prepend=prepend)


# ---- for all modules


def register_module_parameter_registration_hook(hook):
    return hook_into(Global.registration["parameters"], hook)


def register_module_buffer_registration_hook(hook):
    return hook_into(Global.registration["buffers"], hook)


def register_module_module_registration_hook(hook):
    return hook_into(Global.registration["modules"], hook)


def register_module_forward_pre_hook(hook):
    return hook_into(Global.forward_pre, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    return hook_into(Global.forward, hook, (Global.forward_with_kwargs, with_kwargs), (Global.always_called, always_call))


def register_module_backward_hook(hook):
    return register_global_backward_hook(hook, False)


def register_module_full_backward_hook(hook):
    return register_global_backward_hook(hook, True)


def register_global_backward_hook(hook, is_full):
    if Global.is_full is (not is_full):
        raise RuntimeError(PLAIN_AND_FULL.format("a global Module hook").replace(" on a", " as a"))
    Global.is_full = is_full
    return hook_into(Global.backward, hook)


def register_module_full_backward_pre_hook(hook):
    return hook_into(Global.backward_pre, hook)
