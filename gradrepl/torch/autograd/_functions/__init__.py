"""torch.autograd._functions: Functions from before tensors had methods for this."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.autograd._functions.tensor import Resize, Type
