"""Reading and writing at places given by index tensors: gather, scatter, index_*, take, put, masked_*. Declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.declare import Array, formula, op
from gradrepl.engine.dims import broadcast, lead, require, wrap_dim
from gradrepl.engine.layout import laid_out_like
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.ops.pointwise import in_place, number_as
from gradrepl.engine.ops.shapes import expand_sizes, view_sizes
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor, tensor_of

# ---- gather and scatter: an index as large as the result


def places(index, dim):
    """NumPy's key for an index tensor along one dim."""
    ndim = index.ndim
    if ndim == 1:
        return (index,)
    return tuple([index if i == dim else np.arange(n).reshape((n,) + (1,) * (ndim - i - 1)) for i, n in enumerate(index.shape)])


def at_least_1d(*arrays):
    return [x.reshape(1) if not x.ndim else x for x in arrays]


def check_index(name, index):
    require(not index.size or index.dtype.name in ("int64", "int32"), f"{name}(): Expected dtype int32/int64 for index")


def check_range(index, dim, size):
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = index[(index < 0) | (index >= size)].reshape(-1)[0]
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {size}")


@op("GatherBackward0", self="gather_backward(grad, self, dim, index, sparse_grad)")
def gather_op(self, dim, index: Array, sparse_grad=False):
    check_index("gather", index)
    at = wrap_dim(dim, self.ndim)
    if not index.size:
        return np.empty(index.shape, self.dtype)
    require(max(index.ndim, 1) == max(self.ndim, 1), "Index tensor must have the same number of dimensions as input tensor")
    source, where = at_least_1d(self, index)
    if any(n > m for i, (n, m) in enumerate(zip(where.shape, source.shape)) if i != at):
        bad = next(i for i, (n, m) in enumerate(zip(where.shape, source.shape)) if i != at and n > m)
        raise RuntimeError(
            f"Size does not match at dimension {bad} expected index {list(index.shape)} "
            f"to be no larger than self {list(self.shape)} apart from dimension {at}"
        )
    check_range(where, at, source.shape[at])
    return source[places(where, at)].reshape(index.shape)


def check_scatter(self, dim, index, src=None):
    check_index("scatter", index)
    at = wrap_dim(dim, self.ndim)
    require(src is None or src.dtype == self.dtype, "scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return at
    own, where = (max(x.ndim, 1) for x in (self, index))
    require(where == own, "Index tensor must have the same number of dimensions as self tensor")
    target, places = at_least_1d(self, index)
    too_large = any(n > m for i, (n, m) in enumerate(zip(places.shape, target.shape)) if i != at)
    too_large = too_large or src is not None and any(n > size_along(src, i) for i, n in enumerate(places.shape))
    require(src is None or max(src.ndim, 1) == own, "Index tensor must have the same number of dimensions as src tensor")
    if too_large:
        more = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension {at}{more}"
        )
    check_range(places, at, target.shape[at])
    return at


def size_along(array, dim):
    return array.shape[wrap_dim(dim, array.ndim)] if array.ndim else 1


def scattered(self, dim, index, src, write):
    """A copy of `self` into which `write(target, key, values)` has put values."""
    at = check_scatter(self, dim, index, src if isinstance(src, np.ndarray) else None)
    out = self.copy()
    if index.size:
        target, where = at_least_1d(out, index)
        values = src.reshape(src.shape or (1,))[tuple([slice(n) for n in where.shape])] if isinstance(src, np.ndarray) else src
        write(target, places(where, at), values)
    return out


def put_at(target, key, values):
    target[key] = values


@op("ScatterBackward0", self="grad.scatter(dim, index, 0)", src="grad.gather(dim, index)")
def scatter_src(self, dim, index: Array, src):
    return scattered(self, dim, index, src, put_at)


@op("ScatterBackward1", self="grad.scatter(dim, index, 0)")
def scatter_value(self, dim, index: Array, value):
    return scattered(self, dim, index, number_as(value, self.dtype)[()], put_at)


@op("ScatterAddBackward0", self="grad", src="grad.gather(dim, index)")
def scatter_add(self, dim, index: Array, src):
    return scattered(self, dim, index, src, np.add.at)


@op("ScatterReduceBackward0", {"self, src": "scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result)"})
def scatter_reduce_op(self, dim, index: Array, src, reduce, include_self=True):
    require(reduce in REDUCTIONS, f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return scattered(self, dim, index, src, lambda target, key, values: reduce_into(target, key, values, reduce, include_self))


REDUCTIONS = dict(sum=np.add, prod=np.multiply, mean=np.add, amax=np.maximum, amin=np.minimum)


def first_value(reduce, dtype):
    """What a reduction starts from where the old value does not count."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    sign = -1 if reduce == "amax" else 1
    if dtype.kind == "f":
        return sign * np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


def reduce_into(target, key, values, reduce, include_self):
    """Reduce values into the target at the key's places."""
    if not include_self:
        target[key] = first_value(reduce, target.dtype)
    REDUCTIONS[reduce].at(target, key, values)
    if reduce == "mean":
        counts = np.full(target.shape, int(include_self))
        np.add.at(counts, key, 1)
        counts[counts == 0] = 1
        if target.dtype.kind in "fc":
            np.divide(target, counts, out=target, casting="unsafe")
        else:
            target[...] = np.floor_divide(target, counts)


@op()
def scatter_with(self: Array, dim, index: Array, src: Array, reduce):
    check_scatter(self, dim, index, src if isinstance(src, np.ndarray) else None)
    require(reduce in ("add", "multiply"), "reduce argument must be either add or multiply.")
    return scattered(self, dim, index, src, (np.add if reduce == "add" else np.multiply).at)


# ---- index_*: a vector of places along one dim


@op("IndexSelectBackward0", self="index_select_backward(grad, self.sym_sizes(), dim, index)")
def index_select(self, dim, index: Array):
    at = wrap_dim(dim, self.ndim)
    require(index.ndim <= 1, "index_select(): Index is supposed to be a vector", IndexError)
    if not self.ndim:
        require(index.size == 1, f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    require(index.dtype.name in ("int32", "int64"), "index_select(): Expected dtype int32 or int64 for index")
    size = self.shape[at] if self.ndim else 1
    require(not index.size or 0 <= index.min() and index.max() < size, "index out of range in self", IndexError)
    return self.take(index.reshape(-1), at) if self.ndim else self.copy()


def check_source(name, self, dim, index, source):
    """The dim, after PyTorch's checks for index_add and index_reduce."""
    at = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        kind = SCALARS[index.dtype.name]
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {kind} and size: {list(index.shape)}"
        )
    count = source.shape[at] if source.ndim > at else 1
    if index.dtype.name not in ("int32", "int64"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {SCALARS[index.dtype.name]}")
    if self.dtype != source.dtype:
        kinds = f"self ({SCALARS[self.dtype.name]}) and source ({SCALARS[source.dtype.name]})"
        raise RuntimeError(f"{name}(): {kinds} must have the same scalar type")
    if index.size != count:
        raise RuntimeError(f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): ({count}), for dim: {at}")
    if self.ndim and [n for i, n in enumerate(self.shape) if i != at] != [n for i, n in enumerate(source.shape) if i != at]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(self.shape)} source.shape = {list(source.shape)}"
        )
    check_range(index, at, self.shape[at] if self.ndim else 1)
    return at


@op("IndexAddBackward0", self="grad", source="index_source_backward(grad, dim, index, source, source.dim(), alpha)")
def index_add_op(self, dim, index: Array, source, alpha=1):
    at = check_source("index_add_", self, dim, index, source)
    out = self.copy()
    values = source if alpha == 1 else np.multiply(source, number_as(alpha, source.dtype))
    target, values = at_least_1d(out, values)
    np.add.at(target, (*lead(at), index.reshape(-1)), values)
    return out


@op("IndexCopyBackward0", self="grad.index_fill(dim, index, 0)", source="index_source_backward(grad, dim, index, source, source.dim(), 1)")
def index_copy(self, dim, index: Array, source):
    at = check_index_copy(self, dim, index, source)
    out = self.copy()
    target, values = at_least_1d(out, source)
    target[(*lead(at), index.reshape(-1))] = values
    return out


def check_index_copy(self, dim, index, source):
    at, name = wrap_dim(dim, self.ndim), "index_copy_()"
    require(index.ndim <= 1, f"{name}: Index should have dimension 1 or 0 (got {index.ndim})", IndexError)
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise IndexError(
            f"{name}: When source and destination are not scalars, their dimensionality must match. Source dimensionality ({source.ndim}), "
            f"destination dimensionality ({self.ndim})"
        )
    require(index.dtype == np.int64, "index_copy_(): Expected a long tensor for index, but got {}", of=(index,))
    if self.dtype != source.dtype:
        kinds = f"(self) {SCALARS[self.dtype.name]} and (source) {SCALARS[source.dtype.name]}"
        raise RuntimeError(f"{name}: self and source expected to have the same dtype, but got {kinds}")
    rest, other = ([n for i, n in enumerate(x.shape) if i != at] for x in (self, source))
    if source.ndim and rest != other:
        rest, other = (" ".join(map(str, sizes)) for sizes in (rest, other))
        raise RuntimeError(
            f"{name}: Source/destination tensor must have same slice shapes. Destination slice shape: {rest} at dimension {at} and source "
            f"slice shape: {other} at dimension 0."
        )
    count = source.shape[at] if source.ndim else 1
    require(index.size == count, f"{name}: Number of indices ({index.size}) should be equal to source.size(dim) ({count})", IndexError)
    size = self.shape[at] if self.ndim else 1
    for i in index.reshape(-1):
        require(-size <= i < size, f"{name}: index {i} is out of bounds for dimension {at} with size {size}", IndexError)
    return at


@op("IndexFillBackward0", self="grad.index_fill(dim, index, 0)")
def index_fill_number(self, dim, index: Array, value):
    return filled_at(self, dim, index, number_as(value, self.dtype))


@op("IndexFillBackward1", self="grad.index_fill(dim, index, 0)", value="index_fill_value_backward(grad, dim, index)")
def index_fill_tensor(self, dim, index: Array, value):
    if value.ndim:
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).")
    return filled_at(self, dim, index, value.astype(self.dtype))


def filled_at(self, dim, index, value):
    at = wrap_dim(dim, self.ndim)
    require(index.dtype == np.int64, "index_fill_(): Expected dtype int64 for index.", IndexError)
    require(index.ndim <= 1, "Index has to be a vector/scalar")
    out = self.copy("K")
    (target,) = at_least_1d(out)
    size = target.shape[at]
    for i in index.reshape(-1):
        require(-size <= i < size, f"index {i} is out of bounds for dimension {at} with size {size}", IndexError)
    target[(*lead(at), index.reshape(-1))] = value
    return out


@op("IndexReduceBackward0", {"self, source": "index_reduce_backward(grad, self, dim, index, source, reduce, include_self, result)"})
def index_reduce_op(self, dim, index: Array, source, reduce, include_self=True):
    known = reduce in ("prod", "mean", "amax", "amin")
    require(known, f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    at = check_source("index_reduce_", self, dim, index, source)
    out = self.copy()
    target, values = at_least_1d(out, source)
    reduce_into(target, (*lead(at), index.reshape(-1)), values, reduce, include_self)
    return out


# ---- take and put: places in the flat tensor


def flat_places(name, index, size):
    require(index.dtype == np.int64, name + "(): Expected a long tensor for index, but got {}", of=(index,))
    for i in index[(index < -size) | (index >= size)].reshape(-1)[:1]:
        raise IndexError(f"out of range: tried to access index {i} on a tensor of {size} elements.")
    return index


@op("TakeBackward0", self="take_backward(grad, self, index)")
def take(self, index: Array):
    require(self.size or not index.size, "take(): tried to take from an empty tensor", IndexError)
    return self.reshape(-1)[flat_places("take", index, self.size)]


@op(
    "PutBackward0",
    self="grad if accumulate else grad.put(index, zeros(source.meta), False)",
    source="grad.take(index).reshape_as(source)",
)
def put_op(self, index: Array, source, accumulate=False):
    require(self.size or not index.size, "put_(): Tried to put elements into an empty tensor", IndexError)
    flat_places("put_", index, self.size)
    if self.dtype != source.dtype:
        kinds = f"self.dtype = {SCALARS[self.dtype.name]} and source.dtype = {SCALARS[source.dtype.name]}"
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got {kinds}")
    if source.size != index.size:
        counts = f"source.numel() = {source.size}, index.numel() = {index.size}"
        raise IndexError(f"put_(): Expected source and index to have the same number of elements, but got {counts}")
    flat, where, values = self.reshape(-1).copy(), index.reshape(-1), source.reshape(-1)
    if accumulate:
        np.add.at(flat, where, values)
    else:
        flat[where] = values
    return laid_out_like(self, flat.reshape(self.shape))


# ---- masks


@op("MaskedSelectBackward0", self="masked_select_backward(grad, self, mask)")
def masked_select(self, mask: Array):
    require(mask.dtype.kind == "b", "masked_select: expected BoolTensor for mask")
    shape = broadcast(mask.shape, self.shape) if mask.shape != self.shape else self.shape
    return np.broadcast_to(self, shape)[np.broadcast_to(mask, shape)]


@op("MaskedScatterBackward0", self="grad.masked_fill(mask, 0)", source="masked_scatter_backward(grad, mask, source.sym_sizes())")
def masked_scatter_op(self, mask: Array, source):
    mixed = "masked_scatter: expected self and source to have same dtypes but got{} and {}"
    require(self.dtype == source.dtype, mixed, of=(self, source))
    require(mask.dtype.kind == "b", "masked_scatter_ only supports boolean masks, but got mask with dtype {}", of=(mask,))
    chosen = np.broadcast_to(mask, self.shape)
    out, count = self.copy(), int(chosen.sum())
    require(source.size >= count, "Number of elements of source < number of ones in mask")
    out[chosen] = source.reshape(-1)[:count]
    return out


@op("MaskedScatterBackwardBackward0", grad_output="masked_scatter_backward_backward(grad, grad_output.sym_sizes(), mask)")
def masked_scatter_backward(grad_output, mask: Array, sizes):
    """The gradient of a masked scatter's source: what was written, then zeros."""
    out = np.zeros(sizes, grad_output.dtype)
    chosen = grad_output[np.broadcast_to(mask, grad_output.shape)]
    out.reshape(-1)[: chosen.size] = chosen
    return out


# ---- overloads


@formula
def gather(self, dim, index, *, sparse_grad=False):
    return gather_op(self, dim, index, sparse_grad)


SCATTER_REDUCES = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use "
    "torch.scatter_reduce instead for more reduction options."
)


def scatter_variant(variant):
    """`scatter` and `scatter_`: a tensor, a number, or either of them reduced with what is there."""
    of_tensor, of_number, reducing = (f.declaration.functions[variant] for f in (scatter_src, scatter_value, scatter_with))

    def call(self, dim, index, src=None, *, value=None, reduce=None):
        given = src if value is None else value
        if reduce is None:
            return (of_tensor if isinstance(given, Tensor) else of_number)(self, dim, index, given)
        if isinstance(given, Tensor):
            warn_once(SCATTER_REDUCES, "TensorAdvancedIndexing.cpp:225")
        else:
            given = tensor_of(np.broadcast_to(number_as(given, self.array.dtype), index.array.shape))
        return without_derivative("scatter" + variant, reducing(self, dim, index, given, reduce), self, given)

    call.__name__ = f"scatter{variant}"
    return call


scatter, scatter_ = scatter_variant(""), scatter_variant("_")


def index_add(self, dim, index, source, *, alpha=1):
    return index_add_op(self, dim, index, source, alpha)


def index_add_(self, dim, index, source, *, alpha=1):
    return in_place(index_add_op)(self, dim, index, source, alpha)


put_ = in_place(put_op)


def scatter_reduce(self, dim, index, src, reduce, *, include_self=True):
    return scatter_reduce_op(self, dim, index, src, reduce, include_self)


def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    return in_place(scatter_reduce_op)(self, dim, index, src, reduce, include_self)


BETA = "index_reduce() is in beta and the API may change at any time."


def index_reduce(self, dim, index, source, reduce, *, include_self=True):
    warn_once(BETA, "TensorAdvancedIndexing.cpp:1523")
    return index_reduce_op(self, dim, index, source, reduce, include_self)


def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    warn_once(BETA, "TensorAdvancedIndexing.cpp:1523")
    return in_place(index_reduce_op)(self, dim, index, source, reduce, include_self)


def index_fill(self, dim, index, value):
    return (index_fill_tensor if isinstance(value, Tensor) else index_fill_number)(self, dim, index, value)


def index_fill_(self, dim, index, value):
    return in_place(index_fill_tensor if isinstance(value, Tensor) else index_fill_number)(self, dim, index, value)


def masked_scatter(self, mask, source):
    shape = broadcast(mask.array.shape, self.array.shape)
    return masked_scatter_op(self if shape == self.array.shape else expand_sizes(self, shape), mask, source)


def take_along_dim(self, indices, dim=None):
    name = "torch.take_along_dim()"
    require(indices.array.dtype == np.int64, name + ": dtype of indices should be Long but got {}", of=(indices.array,))
    if dim is None:
        return gather_op(view_sizes(self.contiguous(), (self.array.size,)), 0, view_sizes(indices.contiguous(), (indices.array.size,)))
    if self.array.ndim != indices.array.ndim:
        raise RuntimeError(
            f"{name}: input and indices should have the same number of dimensions, but got {self.array.ndim} dimensions for input, and "
            f"{indices.array.ndim} dimensions for indices"
        )
    at = wrap_dim(dim, self.array.ndim)
    require(self.array.ndim, f"Dimension specified as {at} but tensor has no dimensions", IndexError)
    shape, other = (list(x.array.shape) for x in (self, indices))
    shape[at] = other[at] = 1
    common = broadcast(tuple(shape), tuple(other))
    sized = lambda x: expand_sizes(x, (*common[:at], x.array.shape[at], *common[at + 1 :]))
    wrapped = tensor_of(np.mod(sized(indices).array, max(self.array.shape[at], 1)))  # any whole number is an index here
    return gather_op(sized(self), at, wrapped)


publish(
    globals(),
    both="""gather scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_reduce take masked_select
        masked_scatter take_along_dim put:put_op""",
    methods="scatter_ scatter_reduce_ index_add_ index_fill_ index_reduce_ put_",
    in_place="scatter_add index_copy masked_scatter:masked_scatter_op",
)
