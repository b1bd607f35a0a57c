"""Nodes that stop a gradient: one raises an error when it comes, one lets nothing through. Imports node and tensor."""

from gradrepl.engine.node import TupleNode, edge_of
from gradrepl.engine.tensor import Tensor, tensor_of


class Barrier(TupleNode):
    """Hangs under copies of tensors, whether or not anything is being recorded."""

    __slots__ = ()
    _prefix = "torch::autograd::"
    __module__ = "builtins"

    def __init__(self, inputs):
        super().__init__(tuple([None if x is None else edge_of(x) for x in inputs]), (), (), ())
        self.output_metas = tuple([None if x is None else (x.array.shape, x.array.dtype) for x in inputs])


class Error(Barrier):
    """Raises its message."""

    __slots__ = ("message",)
    __module__ = "builtins"

    def apply(self, grads, mask):
        raise RuntimeError(self.message)


class UndefinedGradBackward(Barrier):
    """Loses every gradient."""

    __slots__ = ()
    __module__ = "builtins"

    def apply(self, grads, mask):
        return [None] * len(self.next_edges)


class _Operation:
    """What puts a barrier under tensors when it is called with them."""

    __module__ = "torch._C._functions"
    count = 1

    def node(self, inputs):
        raise NotImplementedError

    def result(self, x):
        return tensor_of(x.array.copy())

    def __call__(self, *inputs):
        if len(inputs) != self.count:
            raise TypeError(f"expected {self.count} arguments, got {len(inputs)} instead")
        for i, x in enumerate(inputs):
            if x is not None and not isinstance(x, Tensor):
                raise TypeError(f"argument {i} is not a Variable")
        outputs = [None if x is None else self.result(x) for x in inputs]
        if any([x is not None and x.requires_grad for x in inputs]):
            node = self.node(inputs)
            for number, x in enumerate(outputs):
                if x is not None and x.array.dtype.kind in "fc":
                    x.needs_grad, x.node, x.output_nr = True, node, number
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


class DelayedError(_Operation):
    """Hands `num_inputs` tensors on; to differentiate through them raises `msg`."""

    __module__ = "torch._C._functions"

    def __init__(self, msg, num_inputs):
        self.msg, self.count = msg, num_inputs

    def result(self, x):
        return tensor_of(x.array)

    def node(self, inputs):
        node = Error(inputs)
        node.message = self.msg
        return node


class UndefinedGrad(_Operation):
    """Copies a tensor; no gradient comes back through the copy."""

    __module__ = "torch._C._functions"

    def node(self, inputs):
        return UndefinedGradBackward(inputs)
