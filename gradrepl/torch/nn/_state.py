"""Module.state_dict and load_state_dict: a flat dictionary of tensors, its metadata and hooks."""

__name__ = "torch.nn.modules.module"

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from gradrepl import torch
from gradrepl.engine.tensor import Tensor
from gradrepl.torch.nn._calling import hook_into
from gradrepl.torch.nn.parameter import Parameter, is_lazy

EXTRA = "_extra_state"
NO_EXTRA_STATE = (
    "Reached a code path in Module.{}() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)
RETURNED = (
    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if incompatible_keys need to be "
    "modified, it should be done inplace."
)
MISMATCH = "size mismatch for {}: copying a param with shape {} from checkpoint, the shape in current model is {}."
NOT_TENSOR = 'While copying the parameter named "{}", expected torch.Tensor or Tensor-like object from checkpoint but received {}'
COPY_FAILED = (
    'While copying the parameter named "{}", whose dimensions in the model are {} and whose dimensions in the checkpoint are {}, an '
    "exception occurred : {}."
)


class IncompatibleKeys(namedtuple("IncompatibleKeys", "missing_keys unexpected_keys")):
    """What load_state_dict answers."""

    __slots__ = ()

    def __repr__(self):
        return "<All keys matched successfully>" if not self.missing_keys and not self.unexpected_keys else super().__repr__()

    __str__ = __repr__


IncompatibleKeys.__name__ = IncompatibleKeys.__qualname__ = "_IncompatibleKeys"
IncompatibleKeys.__module__ = "torch.nn.modules.module"


def register_state_dict_hook(self, hook):
    """The hook may return another dictionary."""
    return hook_into(self._state_dict_hooks, hook)


def register_state_dict_post_hook(self, hook):
    hook._from_public_api = True
    return hook_into(self._state_dict_hooks, hook)


def register_state_dict_pre_hook(self, hook):
    return hook_into(self._state_dict_pre_hooks, hook)


def register_load_pre_hook(self, hook, with_module=False):
    return hook_into(self._load_state_dict_pre_hooks, (lambda *args: hook(self, *args)) if with_module else hook)


def register_load_state_dict_pre_hook(self, hook):
    return register_load_pre_hook(self, hook, with_module=True)


def register_load_state_dict_post_hook(self, hook):
    return hook_into(self._load_state_dict_post_hooks, hook)


def get_extra_state(self):
    raise RuntimeError(NO_EXTRA_STATE.format("get_extra_state"))


def set_extra_state(self, state):
    raise RuntimeError(NO_EXTRA_STATE.format("set_extra_state"))


def has_own(self, method):
    return getattr(type(self), method) is not globals()[method]


# ---- saving


def save_to_state_dict(self, destination, prefix, keep_vars):
    for name, parameter in self._parameters.items():
        if parameter is not None:
            destination[prefix + name] = parameter if keep_vars else parameter.detach()
    for name, buffer in self._buffers.items():
        if buffer is not None and name not in self._non_persistent_buffers_set:
            destination[prefix + name] = buffer if keep_vars else buffer.detach()
    if has_own(self, "get_extra_state"):
        destination[prefix + EXTRA] = self.get_extra_state()


def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
    destination, prefix, keep_vars = list(args) + [destination, prefix, keep_vars][len(args) :]
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    metadata = dict(version=self._version)
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in self._state_dict_pre_hooks.values():
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, module in self._modules.items():
        if module is not None:
            module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in self._state_dict_hooks.values():
        changed = hook(self, destination, prefix, metadata)
        if getattr(hook, "_from_public_api", False):
            if changed is not None:
                raise RuntimeError("state_dict post-hook must return None")
        elif changed is not None:
            destination = changed
    return destination


# ---- loading


def load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
    for hook in self._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    buffers = {name: buffer for name, buffer in self._buffers.items() if name not in self._non_persistent_buffers_set}
    assign = local_metadata.get("assign_to_params_buffers", False)
    for name, current in {**self._parameters, **buffers}.items():
        key = prefix + name
        if current is not None and key in state_dict:
            load_one(self, name, current, key, state_dict[key], assign, error_msgs)
        elif current is not None and strict:
            missing_keys.append(key)
    load_extra_state(self, state_dict, prefix, strict, missing_keys, unexpected_keys)
    if strict:
        unexpected_keys += strangers(self, state_dict, prefix, {**self._parameters, **buffers})


def load_one(self, name, current, key, loaded, assign, error_msgs):
    if not isinstance(loaded, Tensor):
        error_msgs.append(NOT_TENSOR.format(key, type(loaded)))
        return
    if not is_lazy(current):
        if current.dim() == 0 and loaded.dim() == 1 and loaded.numel() == 1:
            loaded = loaded[0]  # checkpoints of old
        if loaded.shape != current.shape:
            error_msgs.append(MISMATCH.format(key, loaded.shape, current.shape))
            return
    try:
        with torch.no_grad():
            if assign:
                setattr(self, name, assigned(current, loaded))
            else:
                current.copy_(loaded)
    except Exception as error:
        error_msgs.append(COPY_FAILED.format(key, current.size(), loaded.size(), error.args))


def assigned(current, loaded):
    if not isinstance(current, Parameter):
        return loaded
    return loaded.requires_grad_(current.requires_grad) if isinstance(loaded, Parameter) else Parameter(loaded, current.requires_grad)


def load_extra_state(self, state_dict, prefix, strict, missing_keys, unexpected_keys):
    key = prefix + EXTRA
    if has_own(self, "set_extra_state"):
        if key in state_dict:
            self.set_extra_state(state_dict[key])
        elif strict:
            missing_keys.append(key)
    elif strict and key in state_dict:
        unexpected_keys.append(key)


def strangers(self, state_dict, prefix, own):
    """The keys under this prefix that neither a child nor a tensor of this module answers to."""
    for key in state_dict:
        if key.startswith(prefix) and key != prefix + EXTRA:
            first, *rest = key[len(prefix) :].split(".", 1)
            if first not in self._modules and (rest or first not in own) or not rest and first in self._modules:
                yield key


def load_state_dict(self, state_dict, strict=True, assign=False):
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    metadata = getattr(state_dict, "_metadata", None)
    state_dict = OrderedDict(state_dict)
    missing, unexpected, errors = [], [], []
    load_tree(self, state_dict, "", metadata, assign, strict, missing, unexpected, errors)
    if strict:
        for what, keys in (("Unexpected", unexpected), ("Missing", missing)):  # each goes to the front
            if keys:
                errors.insert(0, f"{what} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in keys) + ". ")
    if errors:
        raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(self.__class__.__name__, "\n\t".join(errors)))
    return IncompatibleKeys(missing, unexpected)


def load_tree(module, state_dict, prefix, metadata, assign, strict, missing, unexpected, errors):
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            own = OrderedDict((k, v) for k, v in state_dict.items() if k.startswith(below))
            load_tree(child, own, below, metadata, assign, strict, missing, unexpected, errors)
    keys = IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(RETURNED)
