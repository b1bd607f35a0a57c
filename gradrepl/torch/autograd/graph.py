"""torch.autograd.graph: nodes and edges for all to see, and hooks on what is saved for backward."""

__name__ = __name__.removeprefix("gradrepl.")

import abc
import contextlib
import functools
import threading

from gradrepl.engine.backward import GradientEdge, get_gradient_edge, target_edge
from gradrepl.engine.barriers import _Operation
from gradrepl.engine.dtypes import Size
from gradrepl.engine.modes import here
from gradrepl.engine.mutation import _AllowMutationOnSavedContext
from gradrepl.engine.node import Node as _Node
from gradrepl.engine.running import current_run, will_run
from gradrepl.engine.saved import SavedTensor, disable_hooks, pop_hooks, push_hooks
from gradrepl.engine.tensor import Tensor
from gradrepl.engine.views import written

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

    @abc.abstractmethod
    def name(self):
        """The name of the op that made the node."""

    @property
    @abc.abstractmethod
    def next_functions(self):
        """The nodes the gradients go to, each with the number of its output."""

    @abc.abstractmethod
    def metadata(self):
        """A dict to keep things in."""

    @property
    @abc.abstractmethod
    def _input_metadata(self):
        """Shape, dtype and device of each gradient that comes in."""

    @abc.abstractmethod
    def register_hook(self, fn):
        """Call `fn(grad_inputs, grad_outputs)` each time the node has run."""

    @abc.abstractmethod
    def register_prehook(self, fn):
        """Call `fn(grad_outputs)` each time the node is about to run."""

    @abc.abstractmethod
    def _sequence_nr(self):
        """The node's age."""

    @abc.abstractmethod
    def _register_hook_dict(self, tensor):
        """Call the hooks of a tensor that this node made."""

    @classmethod
    def __subclasshook__(cls, subclass):
        return subclass is Node or issubclass(subclass, (_Node, _Operation)) if cls is Node else NotImplemented


class saved_tensors_hooks:
    """Tensors saved for backward inside `with` go through `pack_hook`, and through `unpack_hook` when they are needed."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args):
        pop_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are kept on the CPU, which is where this engine has them all."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda tensor: tensor.detach(), lambda packed: packed)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Inside `with`, or in a function so decorated, saved_tensors_hooks raise this error."""
    before = here.no_packing
    disable_hooks(error_message)
    try:
        yield
    finally:
        here.no_packing = before


def _calculate_shape(output, grad, is_grads_batched):
    """The shapes that an output and its gradient have, for comparison."""
    if isinstance(output, GradientEdge):
        if is_grads_batched:
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        return Size(output.node.output_metas[output.output_nr][0]), grad.shape
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape


def increment_version(tensor):
    """Say that a tensor was written by other means, so that what was saved of it is seen to be stale."""
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, (tuple, list)) or not all(isinstance(each, Tensor) for each in tensors):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in tensors:
        written(each)


class _MultiHandle:
    """Removes several hooks."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call `fn` in a backward once the gradients of all these tensors are there (`mode="all"`), or the first (`"any"`)."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    edges = [_edge(tensor) for tensor in tensors] if mode == "all" else []
    if mode == "any":
        for tensor in tensors:
            assert tensor.requires_grad, "Expected gradient function to be set"
    else:
        assert all(edge is not None for edge in edges), "Expected gradient function to be set"
    lock, runs = threading.Lock(), {}

    def arrived(index, grad):
        run = current_run()
        with lock:
            if run not in runs:
                runs.clear()  # only one backward is under way in most programs
                runs[run] = [None] * len(tensors), sum([will_run(edge, run) for edge in edges]), []
            grads, expected, seen = runs[run]
            grads[index] = grad
            seen.append(index)
        if mode == "any" and len(seen) == 1:
            fn(grad)
        elif mode == "all" and len(seen) == expected:
            del runs[run]
            fn(grads)

    return _MultiHandle(tuple(tensor.register_hook(functools.partial(arrived, i)) for i, tensor in enumerate(tensors)))


def _edge(tensor):
    return target_edge(tensor) if tensor.requires_grad else None


class allow_mutation_on_saved_tensors:
    """Inside `with`, saved tensors may be written: copies are kept for backward, which has to run inside as well."""

    def __enter__(self):
        context = self.context = _AllowMutationOnSavedContext()
        context.begin()
        self.hooks = saved_tensors_hooks(context.pack, context.unpack)
        self.hooks.__enter__()
        return context

    def __exit__(self, *args):
        self.context.end()
        self.hooks.__exit__(*args)
