"""torch._C: the few names of it that programs use."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.random import Generator
from gradrepl.engine.subclasses import DisableTorchFunctionSubclass, _disabled_torch_function_impl
from gradrepl.engine.tensor import Tensor as TensorBase
