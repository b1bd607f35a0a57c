"""How views, joins and indices are batched. Imports rules."""

from gradrepl.engine.batching.dispatch import by_slices, moved
from gradrepl.engine.batching.rules import moved_up, rule, up
from gradrepl.engine.batching.tensor import Outline, wrapped
from gradrepl.engine.declare import DECLARED
from gradrepl.engine.dims import require
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.shapes import reshape_to
from gradrepl.engine.tensor import Tensor

MASKED = "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a boolean mask."


@rule("unsqueeze unsqueeze_copied")
def unsqueeze(call, self, dim):
    return call.wrap(call.function(call.front(self), up(dim, self.array.ndim + 1)))


@rule("permute_dims permute_dims_copied")
def permute(call, self, dims):
    if len(dims) != self.array.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions "
            f"i.e. input.dim() = {self.array.ndim} is not equal to len(dims) = {len(dims)}"
        )
    return call.wrap(call.function(call.front(self), (0, *up(dims, self.array.ndim))))


@rule("unfold unfold_copied")
def unfold(call, self, dimension, size, step):
    return call.wrap(call.function(call.front(self), up(dimension, self.array.ndim), size, step))


@rule("unfold_backward")
def unfold_backward(call, grad_in, input_sizes, dim, size, step):
    return call.wrap(call.function(call.front(grad_in), (call.size, *input_sizes), up(dim, len(input_sizes)), size, step))


# ---- views in place: the tensor itself becomes another view of what it wraps


def becomes(name, change):
    """A rule that lets what is wrapped become a view, and the batched tensor take its outline."""

    @rule(name)
    def write(call, self, *args):
        if self.bdim:
            self.value, self.bdim = call.front(self), 0
        change(self, *args)
        self.outline = Outline(self.value.array, 0)


becomes("unsqueeze_itself", lambda self, dim: self.value.unsqueeze_(up(dim, self.array.ndim + 1)))
becomes("transpose_itself", lambda self, dim0, dim1: self.value.transpose_(up(dim0, self.array.ndim), up(dim1, self.array.ndim)))
becomes("t_itself", lambda self: self.array.ndim > 1 and self.value.transpose_(1, 2))


def squeeze_all_itself(self):
    """As one squeeze, unless that took the batch too."""
    ones = tuple([i + 1 for i, n in enumerate(self.array.shape) if n == 1])
    self.value.squeeze_(ones) if self.value.array.shape[0] == 1 else self.value.squeeze_()


becomes("squeeze_all_itself", squeeze_all_itself)
becomes("squeeze_dim_itself", lambda self, dim: self.array.ndim and self.value.squeeze_((up(dim, self.array.ndim),)))
becomes("squeeze_dims_itself", lambda self, dim: self.value.squeeze_(up(dim, self.array.ndim)))


@rule("squeeze_dim squeeze_dim_copied")
def squeeze_dim(call, self, dim):
    if not self.array.ndim:
        return call.wrap(NAMES["alias_of"](self.value), self.bdim)
    return call.wrap(NAMES["squeeze_dims"](call.front(self), (up(dim, self.array.ndim),)))


@rule("squeeze_all squeeze_all_copied")
def squeeze_all(call, self):
    """As a view of fewer sizes: the batch may be of one example."""
    if not self.array.ndim:
        return call.wrap(NAMES["alias_of"](self.value), self.bdim)
    return call.wrap(NAMES["view_sizes"](call.front(self), (call.size, *[n for n in self.array.shape if n != 1])))


@rule("t t_copied")
def t(call, self):
    if self.array.ndim < 2:
        return call.wrap(NAMES["alias_of"](self.value), self.bdim)
    require(self.array.ndim == 2, f"t() expects a tensor with <= 2 dimensions, but self is {self.array.ndim}D")
    return call.wrap(NAMES["transpose"](call.front(self), 1, 2))


@rule("expand_sizes expand_sizes_copied")
def expand_sizes(call, self, size):
    """Ones in front of the example first, then the batch in front of those."""
    value, new = call.front(self), len(size) - self.array.ndim
    padded = NAMES["view_sizes"](value, (call.size, *(1,) * new, *self.array.shape))
    return call.wrap(call.function(padded, (call.size, *size)))


@rule("repeat_sizes")
def repeat_sizes(call, self, repeats):
    value = call.front(self)
    for _ in range(len(repeats) - self.array.ndim):
        value = NAMES["unsqueeze"](value, 1)
    return call.wrap(call.function(value, (1, *repeats)))


@rule("roll_op")
def roll(call, self, shifts, dims):
    value = call.front(self)
    if dims:
        return call.wrap(call.function(value, shifts, up(dims, self.array.ndim)))
    shape = value.array.shape
    if self.array.ndim != 1:
        value = NAMES["view_sizes"](value, (call.size, self.array.size))
    return call.wrap(NAMES["view_sizes"](call.function(value, shifts, (1,)), shape))


@rule("rot90_op")
def rot90(call, self, k, dims):
    return call.wrap(call.function(call.front(self), k, up(dims, self.array.ndim)))


@rule("diag_embed")
def diag_embed(call, self, offset=0, dim1=-2, dim2=-1):
    rank = self.array.ndim + 1
    return call.wrap(call.function(call.front(self), offset, up(dim1, rank), up(dim2, rank)))


@rule("trace_of")
def trace(call, self):
    return NAMES["sum_dim"](NAMES["diagonal"](self), (-1,))


@rule("as_strided_at")
def as_strided(call, self, size, stride, storage_offset):
    value = call.front(self)
    step = value.array.strides[0] // value.array.dtype.itemsize
    return call.wrap(call.function(value, (call.size, *size), (step, *stride), storage_offset))


@rule("view_as_real view_as_complex")
def other_numbers(call, self):
    return call.wrap(call.function(call.front(self)))


@rule("cat_op")
def cat(call, tensors, dim):
    rank = max(x.array.ndim for x in tensors)
    return call.wrap(call.function([call.full(x) for x in tensors], up(dim, rank)))


@rule("stack_op")
def stack(call, tensors, dim=0):
    rows = [ordered(call, x) if call.holds(x) else repeated(call, x) for x in tensors]
    return call.wrap(call.function(rows, up(dim, tensors[0].array.ndim + 1)))


def ordered(call, x):
    dims = [n for n in range(x.value.array.ndim) if n != x.bdim]
    return NAMES["permute_dims"](x.value, (x.bdim, *dims))


def repeated(call, x):
    return NAMES["expand_sizes"](NAMES["unsqueeze"](x, 0), (call.size, *x.array.shape))


@rule("select_scatter_op slice_scatter diagonal_scatter")
def scattered(call, self, src, *args):
    return moved_up(call, self, src, *args)


# ---- indices


@rule("index unsafe_index")
def index(call, self, indices):
    places, at, count = indexed(call, self, indices)
    found = call.function(call.front(self), places)
    if not call.holds(self):  # the batch is the first of the dimensions that an index made
        return call.wrap(found, at)
    return call.wrap(found if at is None else brought(found, at, count))


def indexed(call, self, indices):
    """(the indices of what is wrapped, where the indexed dimensions stand, how many they become)

    The batch of an index goes along the batch of the tensor; then NumPy's and PyTorch's rule would put all of it in front.
    """
    given = [x for x in indices if x is not None]
    if any(call.holds(x) and x.array.dtype.itemsize == 1 for x in given):
        raise RuntimeError(MASKED)
    if not any(call.holds(x) for x in given):
        return (None, *indices), None, 0
    rank = max(x.array.ndim for x in given)
    places = tuple([x if x is None else call.padded(x, rank) for x in indices])
    if not call.holds(self):
        return places, kept_place(indices), rank
    numbers = NAMES["tensor_of"](NAMES["np"].arange(call.size).reshape(call.size, *(1,) * rank))
    return (numbers, *places), kept_place(indices), rank


def kept_place(indices):
    """Before how many dimensions the result of an index stands, 0 where indices are not neighbours."""
    taken = [n for n, x in enumerate(indices) if x is not None]
    return taken[0] if taken[-1] - taken[0] < len(taken) else 0


def brought(found, at, count):
    """The indexed dimensions, which stand behind the batch, moved behind the dimensions before them."""
    if not at:
        return found
    rest = range(1 + count, found.array.ndim)
    return NAMES["permute_dims"](found, (0, *rest[:at], *range(1, 1 + count), *rest[at:]))


@rule("index_put index_put_impl unsafe_index_put")
def index_put(call, self, indices, values, accumulate=False):
    places, at, count = indexed(call, self, indices)
    value = call.full(self) if not call.holds(self) else call.front(self)
    if at is None and any(call.holds(x) for x in (self, values)):
        pass
    elif not call.holds(self):
        numbers = NAMES["tensor_of"](NAMES["np"].arange(call.size).reshape(call.size, *(1,) * count))
        places = (numbers, *places)
    shape = written_shape(call, self, indices)
    values = call.padded(values, len(shape)) if call.holds(values) else values
    if at:
        full = NAMES["expand_sizes"](values, (call.size, *shape))
        values = NAMES["permute_dims"](
            full, (0, *range(1 + at, 1 + at + count), *range(1, 1 + at), *range(1 + at + count, full.array.ndim))
        )
    return call.wrap(call.function(value, places, values, accumulate))


def written_shape(call, self, indices):
    """The shape of what an index takes from an example."""
    given = [x for x in indices if x is not None]
    np = NAMES["np"]
    block = np.broadcast_shapes(*[x.array.shape for x in given]) if all(x.array.dtype.itemsize > 1 for x in given) else None
    if block is None:
        blank = np.empty(self.array.shape, bool)
        return blank[tuple([slice(None) if x is None else x.array for x in indices])].shape
    rest = [n for n, x in zip(self.array.shape, (*indices, *(None,) * self.array.ndim)) if x is None]
    at = kept_place(indices)
    return (*rest[:at], *block, *rest[at:])


@rule("index_select")
def index_select(call, self, dim, index):
    """By `gather`, which takes an index for every element."""
    value, rank = call.full(self), max(self.array.ndim, 1)
    where = up(dim, rank)
    if not call.holds(index):
        place = index if index.array.ndim else NAMES["unsqueeze"](index, 0)
        sizes = list(value.array.shape)
        sizes[where] = place.array.shape[0]
        shape = [1] * len(sizes)
        shape[where] = place.array.shape[0]
        full = NAMES["expand_sizes"](NAMES["view_sizes"](place, tuple(shape)), tuple(sizes))
        return call.wrap(NAMES["gather_op"](value, where, full, False))
    place = call.front(index)
    shape = [1] * value.array.ndim
    shape[0], shape[where] = call.size, index.array.size
    sizes = list(value.array.shape)
    sizes[where] = index.array.size
    full = NAMES["expand_sizes"](NAMES["view_sizes"](place, tuple(shape)), tuple(sizes))
    return call.wrap(NAMES["gather_op"](value, where, full, False))


@rule("index_add_op index_fill_number index_fill_tensor index_copy index_reduce_op")
def along_an_index(call, self, dim, index, *args):
    """One index for all examples: a dimension more. An index of each example's own: one by one."""
    if call.holds(index) or not self.array.ndim:
        return by_slices(call, self, dim, index, *args)
    rest = [call.full(x) if isinstance(x, Tensor) and x.array.ndim else x for x in args]
    if any(call.holds(x) for x in rest):
        return by_slices(call, self, dim, index, *args)
    if call.in_place or call.name == "index_copy":
        return call.wrap(call.function(call.full(self), up(dim, self.array.ndim), index, *rest))
    write = DECLARED[call.name].functions["_"]
    return call.wrap(write(NAMES["clone"](call.full(self)), up(dim, self.array.ndim), index, *rest))


NO_MASK = (
    "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each batch this would "
    "return a differently shaped Tensor. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
)


@rule("masked_select")
def masked_select(call, self, mask):
    if call.holds(mask):
        raise RuntimeError(NO_MASK)
    found = call.function(call.full(self), mask)
    return call.wrap(NAMES["view_sizes"](found, (call.size, found.array.size // max(call.size, 1))))


def reshape_batched(self, size):
    """A reshape of what is wrapped: only that tells whether the memory allows a view."""
    value = moved(self.value, self.bdim, 0)
    return wrapped(reshape_to(value, (value.array.shape[0], *size)), 0, self.level)


NAMES["reshape_batched"] = reshape_batched
