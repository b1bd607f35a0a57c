"""torch.autograd.function."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.function import Function, once_differentiable
