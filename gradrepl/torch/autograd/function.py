"""torch.autograd.function: the classes behind custom Functions."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.function import BackwardCFunction, Function, FunctionCtx, FunctionMeta, InplaceFunction, once_differentiable

_SingleLevelFunction = Function
__all__ = ["FunctionCtx", "BackwardCFunction", "FunctionMeta", "Function", "once_differentiable", "InplaceFunction"]
