"""The graph under operations that PyTorch has no derivative for: it shows, and refuses when a gradient comes.

Imports node, views and declare.
"""

from gradrepl.engine.declare import disabled, formula, here
from gradrepl.engine.names import NAMES
from gradrepl.engine.node import NEWEST, TupleNode, edge_of
from gradrepl.engine.tensor import Tensor
from gradrepl.engine.views import check_write, write, written


class NotImplementedNode(TupleNode):
    """The grad_fn of such a result."""

    __slots__ = ("operation",)
    _prefix = "torch::autograd::"

    def __init__(self, operation, edges, array):
        self.next_edges, self.saved_values, self.saved_versions, self.hook_tables = edges, (), (), None  # no number is taken
        self.output_metas, self.operation, self.sequence_nr = ((array.shape, array.dtype),), operation, NEWEST

    def apply(self, grads, mask):
        raise RuntimeError(f"derivative for {self.operation} is not implemented")


NotImplementedNode.__name__ = NotImplementedNode.__qualname__ = "NotImplemented"
NotImplementedNode.__module__ = "builtins"


def without_derivative(operation, result, *inputs):
    """Hang the node under `result` if an input asks for gradients."""
    if any(x.needs_grad for x in inputs) and (not disabled or here.grad):
        edges = tuple([edge_of(x) for x in inputs if x.needs_grad])
        node = NotImplementedNode(f"aten::{operation}", edges, result.array)
        result.needs_grad, result.node = True, node
        if NAMES["watch"]:
            NAMES["watch"](node, result)
    return result


@formula
def not_implemented(what):
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


def write_without_derivative(operation, tensor, array, *inputs):
    """The same for an operation in place."""
    recording = any(isinstance(x, Tensor) and x.needs_grad for x in (tensor, *inputs)) and (not disabled or here.grad)
    check_write(tensor, recording)
    edges = tuple([edge_of(x) for x in (tensor, *inputs) if isinstance(x, Tensor) and x.needs_grad])
    node = NotImplementedNode(f"aten::{operation}", edges, tensor.array) if recording else None
    write(tensor, array)
    written(tensor, node)
    return tensor
