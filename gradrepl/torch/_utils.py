"""torch._utils: what saved tensors are rebuilt by."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.tensor import tensor_of
from gradrepl.engine.views import strided


def _rebuild_tensor(storage, storage_offset, size, stride):
    return tensor_of(strided(storage.flat, tuple(size), tuple(stride), storage_offset))


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    tensor.requires_grad = requires_grad
    return tensor


def _rebuild_parameter(data, requires_grad, backward_hooks):
    from gradrepl.torch.nn.parameter import Parameter

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    parameter.__dict__.update(state)
    return parameter


def _rebuild_from_type_v2(func, new_type, args, state):
    made = func(*args)
    if type(made) is not new_type:
        made = made.as_subclass(new_type)
    made.__dict__.update(state if isinstance(state, dict) else {})
    return made
