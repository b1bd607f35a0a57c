"""torch.utils.swap_tensors: two tensors change places, each name keeping its object."""

__name__ = "torch.utils"

import copyreg

POISONED = (
    "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run backward on a tensor that "
    "was swapped. For a module m with `torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the device or "
    "dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and backward. To resolve this, please only change the "
    "device/dtype before running forward (or after both forward and backward)."
)


def poisoned(grad_outputs):
    raise RuntimeError(POISONED)


def leave_graph(tensor):
    """What was recorded with the tensor must not run into the one that comes to its place."""
    cached = tensor.extras and tensor.extras.accumulator
    accumulator = cached and cached()
    if accumulator is not None:
        accumulator.register_prehook(poisoned)
        tensor.extras.accumulator = None


def exchange(one, other, name):
    held = [tensor for tensor in (one, other) if hasattr(tensor, name)]
    values = [getattr(tensor, name) for tensor in held]
    for tensor in held:
        delattr(tensor, name)
    for tensor, value in zip([other, one] if len(held) == 2 else [other if held == [one] else one], values):
        setattr(tensor, name, value)


def swap_tensors(t1, t2):
    """Give each of two tensors the class, the attributes and the contents of the other."""
    slots = set(copyreg._slotnames(type(t1)))
    if slots != set(copyreg._slotnames(type(t2))):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    leave_graph(t1)
    leave_graph(t2)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for name in slots:
        exchange(t1, t2, name)
