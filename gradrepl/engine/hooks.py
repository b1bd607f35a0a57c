"""Hooks: what users ask to be called with gradients, on tensors and on nodes; and the handles that take them away.

Imports tensor, messages and names.
"""

import weakref
from collections import OrderedDict

from gradrepl.engine.messages import type_name
from gradrepl.engine.names import NAMES
from gradrepl.engine.tensor import Tensor


class RemovableHandle:
    """Removes one hook from its table, which it holds only weakly: a hook may hold its own handle."""

    __module__ = "torch.utils.hooks"
    id: int
    next_id: int = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(table) for table in extra)

    def remove(self):
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None and self.id in table:
                del table[self.id]

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(reference() for reference in self.extra_dict_ref)

    def __setstate__(self, state):
        self.hooks_dict_ref = weakref.ref(OrderedDict() if state[0] is None else state[0])
        self.id = state[1]
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if table is None else table) for table in state[2] or ())
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()


def added(hooks, hook):
    """Put a hook into a table; the answer takes it out again."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class Hooks:
    """What few nodes have: `tensor` and `retain` map an output number to what sees its gradient.

    Each is made when it is first asked for: a node that was only looked at has `kept` alone, a tenth of the memory of all.
    """

    MADE = {"before": OrderedDict, "after": OrderedDict, "tensor": dict, "retain": dict, "metadata": dict, "within": type(None)}
    __slots__ = (*MADE, "kept")

    def __getattr__(self, name):
        if name not in self.MADE:
            raise AttributeError(name)
        made = self.MADE[name]()
        setattr(self, name, made)
        return made

    def prepared(self, grads):
        """What the node's own pre-hooks make of its gradients."""
        for hook in tuple(self.before.values()):
            grads = replaced(hook, hook(tuple(grads)), grads)
        return grads


def hook_name(hook):
    return getattr(hook, "__name__", "<unknown>")


def check_single(hook, old, new):
    """PyTorch's refusal of what a hook may not return instead of a gradient."""
    if new is None:
        return
    if old is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if new.array.dtype is not old.array.dtype:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the type of value (was {type_name(old)} got {type_name(new)})")
    if new.array.shape != old.array.shape:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")


def replaced(hook, changed, grads):
    """The gradients a node hook gives instead of these; None is no change."""
    if changed is None:
        return grads
    if not isinstance(changed, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(changed).__name__}'")
    if len(changed) != len(grads):
        counts = f"got {len(changed)}, but expected {len(grads)}"
        raise RuntimeError(f"hook '{hook_name(hook)}' has returned an incorrect number of values ({counts})")
    for old, new in zip(grads, changed):
        check_single(hook, old, new)
    return list(changed)


def through_hooks(hooks, grad):
    """What tensor hooks make of a gradient; None, a gradient that did not come, they are called with too."""
    for hook in tuple(hooks.values()):
        changed = hook(grad)
        check_single(hook, grad, changed)
        grad = grad if changed is None else changed
    return grad


def before(hooks, grads):
    """Tensor hooks, then what retain_grad asks for."""
    for number, table in hooks.tensor.items():
        grads[number] = through_hooks(table, grads[number])
    for number, reference in hooks.retain.items():
        tensor = reference()
        if tensor is not None and grads[number] is not None:
            held = tensor.rare.grad
            tensor.rare.grad = NAMES["clone"](grads[number]) if held is None else held + grads[number]
    return grads


def after(hooks, answers, grads):
    for hook in tuple(hooks.after.values()):
        answers = replaced(hook, hook(tuple(answers), tuple(grads)), answers)
    return answers
