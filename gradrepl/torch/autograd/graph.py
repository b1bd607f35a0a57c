"""torch.autograd.graph: nodes and edges for all to see, and hooks on what is saved for backward."""

__name__ = __name__.removeprefix("gradrepl.")

import abc

from gradrepl.engine.backward import GradientEdge, get_gradient_edge, pack_saved
from gradrepl.engine.modes import here
from gradrepl.engine.names import listen, unlisten
from gradrepl.engine.node import Node as _Node

__all__ = [
    "saved_tensors_hooks",
    "save_on_cpu",
    "disable_saved_tensors_hooks",
    "register_multi_grad_hook",
    "allow_mutation_on_saved_tensors",
    "Node",
    "GradientEdge",
    "get_gradient_edge",
    "increment_version",
]


class Node(abc.ABC):
    """Every grad_fn is an instance of this class."""

    @classmethod
    def __subclasshook__(cls, subclass):
        return cls is Node and issubclass(subclass, _Node)


class saved_tensors_hooks:
    """Tensors saved for backward inside `with` go through `pack_hook`, and through `unpack_hook` when they are needed."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if here.no_packing:
            raise RuntimeError(here.no_packing)
        here.packing = (*here.packing, (self.pack_hook, self.unpack_hook))
        listen("watch", pack_saved)

    def __exit__(self, *args):
        here.packing = here.packing[:-1]
        unlisten("watch", pack_saved)


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are kept on the CPU, which is where this engine has them all: they are copied."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            return tensor.device, tensor.detach().clone()

        super().__init__(pack, lambda packed: packed[1].to(packed[0]))


class disable_saved_tensors_hooks:
    """Inside `with`, saved_tensors_hooks raise this error."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        if here.packing:
            raise RuntimeError(self.error_message)
        self.before, here.no_packing = here.no_packing, self.error_message

    def __exit__(self, *args):
        here.no_packing = self.before

    def __call__(self, function):
        def within(*args, **kwargs):
            with disable_saved_tensors_hooks(self.error_message):
                return function(*args, **kwargs)

        return within


def increment_version(tensor):
    """Say that a tensor was written by other means, so that what was saved of it is seen to be stale."""
    for each in (tensor,) if not isinstance(tensor, (tuple, list)) else tensor:
        each.share_counter().version += 1
