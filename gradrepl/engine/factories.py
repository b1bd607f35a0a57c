"""Making tensors: from data, and filled. Imports the engine's declarations."""

import numpy as np

from gradrepl.engine.declare import unrecorded
from gradrepl.engine.dtypes import Default
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of


def fresh(array, requires_grad=False):
    result = tensor_of(array)
    unrecorded(result)
    return result.requires_grad_(requires_grad) if requires_grad else result


def tensor(data, *, dtype=None, device=None, requires_grad=False):
    array = np.array(data)
    kind = dtype.array if dtype else Default.float if array.dtype.kind == "f" else array.dtype
    return fresh(array.astype(kind), requires_grad)


def sizes_of(size):
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def ones(*size, dtype=None, requires_grad=False):
    return fresh(np.ones(sizes_of(size), dtype.array if dtype else Default.float), requires_grad)


def zeros(*size, dtype=None, requires_grad=False):
    return fresh(np.zeros(sizes_of(size), dtype.array if dtype else Default.float), requires_grad)


publish(globals(), functions="tensor ones zeros")
