"""`x[…]` and `x[…] = …` as PyTorch records them: a chain of views for the basic part, then one gather or scatter for the tensors."""

import operator

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.declare import Array, Arrays, op
from gradrepl.engine.dims import broadcast, require
from gradrepl.engine.layout import dense_order, in_order
from gradrepl.engine.messages import type_name
from gradrepl.engine.ops.pointwise import copy_, fill_tensor, in_place
from gradrepl.engine.ops.shapes import alias_of, expand_sizes, select_at, slice_dim, unsqueeze, view_sizes
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of

NOT_AN_INDEX = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"
NOT_A_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; "
    "use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
    "x[torch.tensor(seq)], which will result either in an error or a different result"
)
NOT_INTEGERS = "tensors used as indices must be long, int, byte or bool tensors"
WHOLE = 2**63 - 1  # where a slice without an end stops


def key_of(array, indices):
    """NumPy's key for a list of index tensors: masks as the places of their True, checked as PyTorch checks."""
    keys, shape, dim = [], (), 0
    for tensor in indices:
        if tensor is None:
            keys.append(slice(None))
            dim += 1
            continue
        index = tensor.array
        require(index.dtype.kind in "iub" and index.dtype.itemsize != 2 and index.dtype != np.int8, NOT_INTEGERS, IndexError)
        places = mask_places(array, index, dim) if index.dtype.itemsize == 1 else (index,)
        if dim + len(places) > array.ndim:
            raise IndexError(f"too many indices for tensor of dimension {array.ndim} (got {dim + len(places)})")
        for place in places:
            keys.append(place)
            dim += 1
    if len(keys) == 1:
        return tuple(keys)
    shapes = [key.shape for key in keys if type(key) is not slice]
    for other in shapes:
        try:
            shape = broadcast(shape, other)
        except RuntimeError:
            listed = ", ".join(str(list(s)) for s in shapes)
            raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}") from None
    return tuple(keys)


def mask_places(array, mask, dim):
    for i, (n, m) in enumerate(zip(mask.shape, array.shape[dim:])):
        if n != m:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the indexed tensor "
                f"{list(array.shape)} at index {dim + i}"
            )
    return mask.nonzero()


def taken(array, key):
    """array[key], or PyTorch's error: dims are counted among the indexed ones, which it brings to the front first."""
    try:
        return array[key]
    except IndexError:
        if not all([size for index, size in zip(key, array.shape) if type(index) is not slice]):
            raise IndexError("index is out of bounds for dimension with size 0") from None
        if not array.size:
            return array[tuple([index if type(index) is slice else np.zeros_like(index, np.int64) for index in key])]
        indexed = [(index, size) for index, size in zip(key, array.shape) if type(index) is not slice]
        for dim, (index, size) in enumerate(indexed):
            for bad in index[(index < -size) | (index >= size)].reshape(-1)[:1]:
                raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {size}") from None
        raise


def put(array, indices, values, accumulate):
    """Write values at the indices; `array` is changed."""
    key = key_of(array, indices)
    shape = taken(array, key).shape
    if array.dtype != values.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{SCALARS[array.dtype.name]} for the destination and {SCALARS[values.dtype.name]} for the source."
        )
    if values.shape != shape:
        spare = values.ndim - len(shape)
        if spare > 0 or any(n not in (1, m) for n, m in zip(values.shape[::-1], shape[::-1])):
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape {list(shape)}"
            )
    if accumulate:
        np.add.at(array, key, values)
    else:
        array[key] = values
    return array


@op("IndexBackward0", self="index_backward(grad, self.sym_sizes(), indices)")
def index(self, indices: Arrays):
    key = key_of(self, indices)
    found = taken(self, key)
    return np.ascontiguousarray(found) if self.flags.c_contiguous else relaid(found, self, key)


def relaid(found, array, key):
    """What an index takes from an array that is not contiguous, laid out as PyTorch's iterator lays it out."""
    index = np.broadcast(*[k for k in key if type(k) is not slice])
    taken = [i for i, k in enumerate(key) if type(k) is not slice]
    front = 0 if taken[-1] - taken[0] >= len(taken) else taken[0]
    rest = [s for i, s in enumerate(array.strides) if i not in taken]
    strides = (*rest[:front], *(0,) * index.ndim, *rest[front:])
    places = (*(0,) * front, *np.empty(index.shape).strides, *(0,) * (len(rest) - front))
    return in_order(found, dense_order(found.shape, strides, places)[::-1])


@op("IndexPutBackward0", self="grad if accumulate else index_put(grad, indices, zeros(values.meta), False)", values="index(grad, indices)")
def index_put(self, indices: Arrays, values, accumulate=False):
    return put(self.copy("K"), indices, values, accumulate)


@op(
    "IndexPutImplBackward0",
    self="grad if accumulate else index_put(grad, indices, zeros(values.meta), False)",
    values="index(grad, indices)",
)
def index_put_impl(self, indices: Arrays, values, accumulate=False):
    return put(self.copy("K"), indices, values, accumulate)


@op("UnsafeIndexBackward0", self="unsafe_index_put(new_zeros(grad, self.sym_sizes()), indices, grad, True)")
def unsafe_index(self, indices: Arrays):
    return taken(self, key_of(self, indices))


@op(
    "UnsafeIndexPutBackward0",
    self="grad if accumulate else unsafe_index_put(grad, indices, zeros(values.meta), False)",
    values="unsafe_index(grad, indices)",
)
def unsafe_index_put(self, indices: Arrays, values, accumulate=False):
    return put(self.copy("K"), indices, values, accumulate)


def within(array, indices):
    """The indices, each held inside its dim."""
    return [None if x is None else tensor_of(x.array.clip(-n, n - 1)) for x, n in zip(indices, array.shape)]


@op(
    "UnsafeMaskedIndexBackward0",
    self="unsafe_masked_index_put_accumulate(new_zeros(grad, self.sym_sizes()), mask, indices, grad)",
)
def unsafe_masked_index(self, mask: Array, indices, fill):
    if not self.size:
        return np.full(mask.shape, fill, self.dtype)
    found = taken(self, key_of(self, within(self, indices)))
    return np.where(mask, found, np.asarray(fill).astype(self.dtype))


@op("UnsafeMaskedIndexPutAccumulateBackward0", self="grad", values="unsafe_masked_index(grad, mask, indices, 0)")
def unsafe_masked_index_put_accumulate(self, mask: Array, indices, values):
    if not self.size:
        return self.copy()
    return put(self.copy("K"), within(self, indices), np.where(mask, values, values.dtype.type(0)), True)


def with_indices(function):
    def call(self, indices, values, accumulate=False):
        return function(self, tuple(indices), values, accumulate)

    return call


put_out_of_place, index_put_, unsafe_put = map(with_indices, (index_put, in_place(index_put), unsafe_index_put))


# ---- reading an index


class Reading:
    """An index read from left to right: `view` is what the basic part makes of the tensor, `tensors` what is left to gather."""

    def __init__(self, tensor, keys):
        self.view, self.tensors, self.dim, self.covered = tensor, [], 0, 0
        taken = sum(map(dims_taken, keys))
        self.skipped = tensor.array.ndim - taken
        require(self.skipped >= 0, f"too many indices for tensor of dimension {tensor.array.ndim}", IndexError)
        for self.place, key in enumerate(keys):
            self.read(key)

    def read(self, key):
        kind = type(key)
        if kind is int:
            self.select(key)
        elif kind is slice:
            self.slice(key)
        elif key is None:
            self.widen()
            self.dim += 1
        elif key is Ellipsis:
            self.dim += self.skipped
        elif kind is bool:
            self.widen()
            self.record(tensor_of(np.zeros(int(key), np.int64)))
        elif isinstance(key, Tensor):
            self.read_tensor(key)
        elif isinstance(key, (list, tuple, range, np.ndarray)):
            self.record(tensor_from(key))
        elif hasattr(key, "__index__"):
            self.read(operator.index(key) if not isinstance(key, np.bool_) else bool(key))
        elif kind is str:
            raise TypeError("new(): invalid data type 'str'")
        else:
            raise IndexError(NOT_AN_INDEX.format(kind.__name__))

    def read_tensor(self, key):
        if key.array.ndim or key.array.dtype.kind not in "iub" or type(key.array) is not np.ndarray:
            self.record(key)
        else:
            self.read(bool(key.array) if key.array.dtype.itemsize == 1 and key.array.dtype != np.int8 else int(key.array))

    def select(self, index):
        check_index(self.view.array, self.dim, index, self.place)
        self.view = select_at(self.view, self.dim, index)

    def slice(self, key):
        start, stop, step = slice_bounds(key)
        if step != 1 or start != 0 or stop < self.view.array.shape[self.dim]:
            self.view = slice_dim(self.view, self.dim, start, stop, step)
        self.dim += 1

    def widen(self):
        self.view = unsqueeze(self.view, self.dim)

    def record(self, tensor):
        width = tensor.array.ndim if tensor.array.dtype.kind == "b" or tensor.array.dtype == np.uint8 else 1
        self.tensors += [None] * (self.dim - self.covered) + [tensor]
        self.dim += width
        self.covered = self.dim


def check_index(array, dim, index, place):
    """Whether a dim has an element of this number; `place` is where in the index it stands."""
    if not array.ndim and index == 0:
        raise IndexError(
            "invalid index of a 0-dim tensor. "
            "Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    size = array.shape[dim] if dim < array.ndim else 0
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {place} with size {size}")


def dims_taken(key):
    """How many of the tensor's dims an index item uses up."""
    if key is None or key is Ellipsis or type(key) is bool:
        return 0
    if isinstance(key, Tensor) and (key.array.dtype.kind == "b" or key.array.dtype == np.uint8):
        return key.array.ndim
    return 1


def slice_bounds(key):
    """start, end and step of a slice; what is left out is 0 and the largest integer."""
    start, stop, step = key.start, key.stop, key.step
    if step is None and (start is None or type(start) is int) and (stop is None or type(stop) is int):
        return start or 0, WHOLE if stop is None else stop, 1
    try:
        start, stop, step = (None if v is None else operator.index(v) for v in (key.start, key.stop, key.step))
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None
    require(step != 0, "slice step cannot be zero", ValueError)
    require(step is None or step > 0, "step must be greater than zero", ValueError)
    return start or 0, WHOLE if stop is None else stop, step or 1


def tensor_from(key):
    """A list used as an index."""
    array = np.asarray([k.item() if isinstance(k, Tensor) else k for k in key] if isinstance(key, list) else key)
    if array.dtype.kind in "US":
        raise TypeError("new(): invalid data type 'str'")
    return tensor_of(array.astype(np.int64) if not array.size or array.dtype.kind in "iu" else array)


def keys_of(key):
    if type(key) is tuple:
        return key
    return tuple(key) if isinstance(key, list) and is_a_tuple(key) else (key,)


def is_a_tuple(key):
    """PyTorch still reads a short list that holds anything but numbers as a tuple, and says so."""
    found = len(key) < 32 and any(k is None or k is Ellipsis or isinstance(k, (slice, Tensor, list, tuple, np.ndarray)) for k in key)
    if found:
        warn_once(NOT_A_TUPLE, "torch/csrc/autograd/python_variable_indexing.cpp:349")
    return found


def is_plain(keys):
    """Whether an index holds nothing but numbers and slices."""
    for key in keys:
        if type(key) is not int and type(key) is not slice:
            return False
    return True


def plain_part(tensor, keys):
    """The views that numbers and slices stand for."""
    view, dim = tensor, 0
    for place, key in enumerate(keys):
        array = view.array
        if type(key) is int:
            check_index(array, dim, key, place)
            view = select_at(view, dim, key)
        else:
            start, stop, step = slice_bounds(key)
            if step != 1 or start != 0 or stop < array.shape[dim]:
                view = slice_dim(view, dim, start, stop, step)
            dim += 1
    return alias_of(view) if view is tensor else view


def getitem(self, key):
    kind = type(key)
    if kind is slice:
        bounds = slice_bounds(key)
        require(self.array.ndim, "slice() cannot be applied to a 0-dim tensor.", IndexError)
        return slice_dim(self, 0, *bounds)
    if kind is int:
        check_index(self.array, 0, key, 0)
        return select_at(self, 0, key)
    if kind is tuple and is_plain(key) and len(key) <= self.array.ndim:
        return plain_part(self, key)
    reading = Reading(self, keys_of(key))
    if reading.tensors:
        return index(reading.view, tuple(reading.tensors))
    return alias_of(self) if reading.view is self and kind is not Tensor else reading.view


# ---- writing through an index


def value_for(self, value):
    """The right side of an assignment as a tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
        if isinstance(value, complex) and self.array.dtype.kind != "c":
            raise RuntimeError(f"value cannot be converted to type {NUMBER_NAMES.get(self.array.dtype.name, 'float')} without overflow")
        return tensor_of(np.asarray(value).astype(self.array.dtype))
    raise TypeError(f"can't assign a {type(value).__name__} to a {type_name(self)}")


NUMBER_NAMES = dict(float64="double", float32="float", int64="int64_t", int32="int", bool="bool", float16="at::Half")


def setitem(self, key, value):
    value = value_for(self, value)
    if key is False:
        return
    if type(key) is int:
        check_index(self.array, 0, key, 0)
    reading = Reading(self, keys_of(key))
    if reading.tensors:
        shape = without_ones_in_front(value.array.shape)
        value = value if shape == value.array.shape else view_sizes(value, shape)
        index_put_(reading.view, tuple(reading.tensors), value)
    else:
        copy_to(reading.view, value)


def without_ones_in_front(shape):
    return shape[next((i for i, n in enumerate(shape) if n != 1), len(shape)) :]


def copy_to(target, value):
    """Assign as PyTorch's indexing does: a 0-d value fills, a smaller one is expanded first."""
    if value.array.shape == target.array.shape:
        copy_(target, value)
    elif not value.array.ndim:
        in_place(fill_tensor)(target, value)
    else:
        copy_(target, expand_sizes(view_sizes(value, without_ones_in_front(value.array.shape)), target.array.shape))


def _unsafe_index(self, indices):
    return unsafe_index(self, tuple(indices))


def _unsafe_masked_index(self, mask, indices, fill):
    return unsafe_masked_index(self, mask, tuple(indices), fill)


def _unsafe_masked_index_put_accumulate(self, mask, indices, values):
    return unsafe_masked_index_put_accumulate(self, mask, tuple(indices), values)


publish(
    globals(),
    both="index_put:put_out_of_place",
    functions="_unsafe_index _unsafe_index_put:unsafe_put _unsafe_masked_index _unsafe_masked_index_put_accumulate index_put_",
    methods="index_put_ __getitem__:getitem __setitem__:setitem",
)
