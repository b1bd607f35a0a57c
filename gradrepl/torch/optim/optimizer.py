"""torch.optim.optimizer: parameter groups, state, hooks, saving; the updates stand in the optimizers' own files."""

__name__ = __name__.removeprefix("gradrepl.")

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from contextlib import nullcontext
from copy import deepcopy
from itertools import chain

from gradrepl import torch
from gradrepl.engine.timing import ACTIVE
from gradrepl.torch.optim._bare import bare
from gradrepl.torch.utils.hooks import RemovableHandle

required, UNMEASURED = object(), nullcontext()
_params_t = ParamsT = Iterable
_global_optimizer_pre_hooks: OrderedDict = OrderedDict()
_global_optimizer_post_hooks: OrderedDict = OrderedDict()
HOOKS = "step_pre step_post state_dict_pre state_dict_post load_state_dict_pre load_state_dict_post".split()
DUPLICATES = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
    "github.com/pytorch/pytorch/issues/40967 for more information"
)
SETS = (
    "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. "
    "Please use a list instead."
)
NOT_ITERABLE = "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
OTHER_SIZE = "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"


def hooked(table, hook, prepend=False):
    handle = RemovableHandle(table)
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    return hooked(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    return hooked(_global_optimizer_post_hooks, hook)


def measured(name):
    """An event of the profiler."""
    return torch.autograd.profiler.record_function(name)


def with_hooks(step):
    """A `step` with the hooks before and after it."""

    @functools.wraps(step)
    def wrapper(*args, **kwargs):
        self, *_ = args
        with measured(f"Optimizer.step#{type(self).__name__}.step") if ACTIVE else UNMEASURED:
            return run(self, args, kwargs)

    def run(self, args, kwargs):
        for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            result = hook(self, args, kwargs)
            if result is not None:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
                args, kwargs = result
        answer = step(*args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
            hook(self, args, kwargs)
        return answer

    return wrapper


def check_lr(lr):
    if isinstance(lr, torch.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_betas(betas):
    for place, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {place}: {beta}")


class Optimizer:
    """The base of all optimizers. Subclasses write `update` for one parameter, or `step` for all."""

    no_sparse = ""

    def __init_subclass__(cls):
        if "step" in vars(cls):
            cls.step = with_hooks(cls.step)

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in HOOKS:
            setattr(self, f"_optimizer_{name}_hooks", OrderedDict())
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
        if isinstance(params, torch.Tensor):
            raise TypeError(NOT_ITERABLE + torch.typename(params))
        self.state, self.param_groups = defaultdict(dict), []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    # ---- stepping

    def step(self, closure=None):
        """Update every parameter that has a gradient; `closure` evaluates the loss anew."""
        loss = None
        with torch.set_grad_enabled(self.defaults.get("differentiable", False)):
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                self.step_group(group)
        return loss

    step = with_hooks(step)

    def step_group(self, group):
        maximize, state = group.get("maximize", False), self.state
        for parameter in group["params"]:
            grad = parameter.grad
            if grad is not None:
                self.update(parameter, -grad if maximize else grad, state[parameter], group)

    def update(self, parameter, grad, state, group):
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        with measured(self._zero_grad_profile_name) if ACTIVE else UNMEASURED:
            for parameter in chain.from_iterable([group["params"] for group in self.param_groups]):
                if parameter.grad is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad.detach_() if parameter.grad.grad_fn is not None else parameter.grad.requires_grad_(False)
                    parameter.grad.zero_()

    # ---- groups

    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(SETS)
        param_group["params"] = [params] if isinstance(params, torch.Tensor) else list(params)
        split_names(param_group)
        for param in param_group["params"]:
            if not isinstance(param, torch.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + torch.typename(param))
            if not self.defaults.get("differentiable", None) and not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self.check_group(param_group)
        self.param_groups.append(param_group)

    def check_group(self, param_group):
        params = param_group["params"]
        if len(params) != len(set(params)):
            warnings.warn(DUPLICATES, stacklevel=3)
        known = set(chain.from_iterable(group["params"] for group in self.param_groups))
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            which = "with names" if "param_names" in param_group else "without names"
            raise ValueError(f"all optimizer param groups should be with/without names. cannot add param group {which} to the optimizer")

    def __repr__(self):
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    # ---- saving

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in HOOKS:
            self.__dict__.setdefault(f"_optimizer_{name}_hooks", OrderedDict())
        self.defaults.setdefault("differentiable", False)

    def state_dict(self):
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers, groups = {}, []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            groups.append({**packed, "params": [numbers[id(param)] for param in group["params"]]})
        state = {numbers[id(key)] if isinstance(key, torch.Tensor) else key: value for key, value in self.state.items()}
        answer = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, answer)
            answer = answer if changed is None else changed
        return answer

    def load_state_dict(self, state_dict):
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved, groups = deepcopy(state_dict["param_groups"]), self.param_groups
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(group["params"]) != len(other["params"]) for group, other in zip(groups, saved)):
            raise ValueError(OTHER_SIZE)
        numbers = chain.from_iterable(group["params"] for group in saved)
        params = dict(zip(numbers, chain.from_iterable(group["params"] for group in groups)))
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            state[params[key] if key in params else key] = like_param(params[key], value) if key in params else value
        for group, other in zip(groups, saved):
            other["params"] = group["params"]
            if "param_names" in group and "param_names" not in other:
                other["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # ---- hooks

    def register_step_pre_hook(self, hook):
        return hooked(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        return hooked(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return hooked(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        return hooked(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        return hooked(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return hooked(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def split_names(param_group):
    """Parameters may come with names, all or none of them."""
    named = [isinstance(param, tuple) for param in param_group["params"]]
    if any(named):
        if not all(named):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        param_group["param_names"] = [name for name, _ in param_group["params"]]
        param_group["params"] = [param for _, param in param_group["params"]]


def like_param(param, value, key=None):
    """State as the parameter has it: its dtype, but for the count of steps."""
    if isinstance(value, torch.Tensor):
        if key == "step" or not param.is_floating_point():
            return value.clone() if value.dtype == torch.float32 or key != "step" else value.to(dtype=torch.float32)
        return value.to(dtype=param.dtype, copy=False) if value.dtype != param.dtype else value
    if isinstance(value, dict):
        return {name: like_param(param, part, name) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(like_param(param, part, key) for part in value)
    return value


def new_step(group=None):
    return torch.tensor(0.0, dtype=torch.float32)


def counted(state):
    """One more step, and its number."""
    for (step,) in bare(state["step"]):
        step.add_(1)
    return value_of(state["step"])


def decayed(parameter, grad, group):
    """The gradient with weight decay."""
    return grad.add(parameter, alpha=group["weight_decay"]) if group["weight_decay"] != 0 else grad


def decayed_or_apart(parameter, grad, group, lr):
    """The gradient with weight decay; where that is decoupled the parameter itself shrinks, and the gradient stays what it is."""
    if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
        parameter.mul_(1 - lr * group["weight_decay"])
        return grad
    return decayed(parameter, grad, group)


def value_of(number):
    return number.item() if isinstance(number, torch.Tensor) else number
