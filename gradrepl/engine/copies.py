"""Copying and pickling of tensors, dtypes, devices and sizes. Imports tensor, views and dtypes.

What is pickled names functions of this module, not `torch`: it can be read back whatever `import torch` means there.
"""

import copy

from gradrepl.engine.dtypes import DTYPES, FORMATS, LAYOUTS, Size, device, dtype, layout
from gradrepl.engine.modes import no_grad
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of
from gradrepl.engine.views import geometry_of, storage, strided

NOT_A_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to "
    "deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)


def deepcopy(self, memo):
    """A leaf of the same class on a copy of the storage, which copies of its views share; `.grad` and attributes come along."""
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(NOT_A_LEAF)
    with no_grad():
        memo[id(self)] = twin = tensor_of(strided(copied_storage(self.array, memo), *geometry_of(self.array)), type(self))
        twin.needs_grad = self.requires_grad
        if self.grad is not None:
            twin.grad = copy.deepcopy(self.grad, memo)
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return twin


def copied_storage(array, memo):
    flat = storage(array)
    key = "storage", flat.__array_interface__["data"][0], flat.nbytes
    if key not in memo:
        memo[key] = flat.copy()
    return memo[key]


def reduce(self, protocol):
    size, stride, start = geometry_of(self.array)
    state = (storage(self.array), size, stride, start, self.requires_grad, type(self), self.__dict__ or None)
    return rebuilt, state if type(self) is not Tensor else (*state[:5], None, state[6])


def rebuilt(flat, size, stride, start, requires_grad, kind=None, attributes=None):
    made = tensor_of(strided(flat, size, stride, start), kind or Tensor)
    made.needs_grad = requires_grad
    made.__dict__.update(attributes or {})
    return made


def named(name):
    return (DTYPES | LAYOUTS | FORMATS)[name]


def size_from(sizes):
    return Size(sizes)


def device_from(*place):
    return device(*place)


REDUCED = {  # class -> how an instance is pickled
    dtype: lambda self: (named, (self.name,)),
    layout: lambda self: (named, (self.name,)),
    Size: lambda self: (size_from, (tuple(self),)),
    device: lambda self: (device_from, (self.type,) if self.index is None else (self.type, self.index)),
}
for kind, reduced in REDUCED.items():
    setattr(kind, "__reduce__", reduced)  # noqa: B010 (a method is given, not an attribute)
publish(globals(), methods="__deepcopy__:deepcopy __reduce_ex__:reduce")
