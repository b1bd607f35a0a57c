"""torch._C: the few names of it that programs use."""

__name__ = __name__.removeprefix("gradrepl.")

from types import SimpleNamespace

from gradrepl.engine.function import DelayedError
from gradrepl.engine.missing import NotImplementedNode
from gradrepl.engine.names import NAMES
from gradrepl.engine.node import AccumulateGrad, InputMetadata
from gradrepl.engine.random import Generator
from gradrepl.engine.saved import SavedTensor
from gradrepl.engine.subclasses import DisableTorchFunctionSubclass, _disabled_torch_function_impl
from gradrepl.engine.tensor import Tensor as TensorBase
from gradrepl.engine.views import CopySlices


class _Functions:
    """`torch._C._functions`: the classes of the nodes, by name."""

    def __getattr__(self, name):
        known = {node.__name__: node for node in (AccumulateGrad, CopySlices, NotImplementedNode, DelayedError)}
        for function in list(NAMES.values()):
            declaration = getattr(function, "declaration", None)
            if declaration is not None and declaration.node_name == name:
                return declaration.node
        if name not in known:
            raise AttributeError(f"module 'torch._C._functions' has no attribute {name!r}")
        return known[name]


_functions = _Functions()
_autograd = SimpleNamespace(SavedTensor=SavedTensor, _InputMetadata=InputMetadata)
