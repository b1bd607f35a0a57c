"""Tensors that change what they stand on: `set_` and `resize_`. Imports views, node, missing and public."""

import math

import numpy as np

from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.missing import NotImplementedNode
from gradrepl.engine.modes import here
from gradrepl.engine.node import RenewedLeaf, edge_of
from gradrepl.engine.public import publish
from gradrepl.engine.views import check_write, geometry_of, offset, storage, strided, written


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Stand on the storage of another tensor, or on none."""
    array = np.empty(0, self.array.dtype) if source is None else source.array
    if array.dtype is not self.array.dtype:
        names = SCALAR_TYPES[array.dtype.name], SCALAR_TYPES[self.array.dtype.name]
        raise RuntimeError("Could not set tensor of type {} to a tensor of type {}".format(*names))
    if size is not None:
        array = strided(storage(array), tuple(size), contiguous(size) if stride is None else tuple(stride), storage_offset)
    recording = self.needs_grad and here.records
    check_write(self, recording, True)
    node = None
    if recording:
        edges = edge_of(self), source is not None and edge_of(source) or None
        node = NotImplementedNode("set_", edges, array)
    self.array = array
    written(self, node)
    if self.needs_grad and self.is_leaf:
        self.node = RenewedLeaf(self)
    return self


def contiguous(size):
    """The strides of a contiguous tensor."""
    return tuple([math.prod(size[i + 1 :]) for i in range(len(size))])


def resize_(self, *size, memory_format=None):
    """Take another shape; values stay where they are in memory, and there is more of it if needed."""
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], (int, np.integer, str)) else size
    for n in size:
        if isinstance(n, str) or not isinstance(n, (int, np.integer)):
            raise TypeError(f"resize_(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}")
        if n < 0:
            raise RuntimeError("numel: integer multiplication overflow")
    if self.requires_grad and not here.inference:
        raise RuntimeError("cannot resize variables that require grad")
    check_write(self, False, True)
    if size == self.array.shape:
        return self
    flat, start, count = storage(self.array), offset(self.array), math.prod(size)
    if start + count > flat.size:
        flat = np.concatenate([flat, np.zeros(start + count - flat.size, flat.dtype)])
    if geometry_of(self.array)[:2] != (size, contiguous(size)) or not np.shares_memory(flat, self.array):
        self.array = strided(flat, size, contiguous(size), start)
    written(self)
    return self


def resize_as_(self, the_template, *, memory_format=None):
    return resize_(self, the_template.shape)


def is_set_to(self, tensor):
    """Whether both are the same view of the same memory."""
    a, b = self.array, tensor.array
    return a.shape == b.shape and a.strides == b.strides and a.__array_interface__["data"] == b.__array_interface__["data"]


publish(globals(), methods="set_ resize_ resize_as_ is_set_to")
