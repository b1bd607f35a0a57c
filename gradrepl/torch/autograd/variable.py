"""torch.autograd.variable: the old name of tensors that are part of a graph."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.running import _EngineBase
from gradrepl.engine.tensor import Tensor

__all__ = ["VariableMeta", "Variable"]


class VariableMeta(type):
    """Makes every tensor a Variable."""

    def __instancecheck__(cls, other):
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """`Variable(tensor)` is the tensor, outside its graph."""

    _execution_engine = _EngineBase()

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
