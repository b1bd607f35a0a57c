"""torch.autograd.function: the classes behind custom Functions."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.function import BackwardCFunction, Function, FunctionCtx, FunctionMeta, InplaceFunction, once_differentiable

_SingleLevelFunction = Function


class NestedIOFunction(Function):
    """A Function of the old kind, of nested tuples: it can be subclassed, and says what it lacks."""

    def forward_extended(self, *input):
        raise NotImplementedError

    def backward_extended(self, *grad_output):
        raise NotImplementedError


__all__ = ["FunctionCtx", "BackwardCFunction", "FunctionMeta", "Function", "once_differentiable", "InplaceFunction", "NestedIOFunction"]
