"""Reading dims and sizes as PyTorch does, with its errors. Imports tensor and promotion."""

import math
import operator

from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.tensor import Tensor

ALL = type("All", (), {"__repr__": lambda self: "all"})()  # what a `dim` argument is when none was given


def wrap_dim(dim, ndim):
    """A dimension counted from the front; a 0-d tensor counts as one-dimensional."""
    span = ndim or 1
    if not -span <= dim < span:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})")
    return dim + span if dim < 0 else dim


def wrap_dims(dim, ndim):
    """What NumPy takes as `axis` for PyTorch's `dim`: None for all, a number, or several numbers, none of them twice."""
    if dim is None or dim == ():
        return None
    wrapped = [wrap_dim(d, ndim) for d in (dim if isinstance(dim, tuple) else (dim,))]
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return tuple(wrapped) if ndim else ()


def as_dims(dim):
    """`dim` as PyTorch saves it: a tuple, or None."""
    return dim if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)


def distinct_dims(dims, ndim):
    """Several dims counted from the front, none of them twice."""
    wrapped = [wrap_dim(dim, ndim) for dim in dims]
    for i, dim in enumerate(wrapped):
        if dim in wrapped[:i]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return tuple(wrapped)


def require(condition, text, error=RuntimeError, of=()):
    """Raise PyTorch's error unless the condition holds; `{}` in the text become the types of the arrays in `of`."""
    if not condition:
        raise error(text.format(*[SCALARS[array.dtype.name] for array in of]) if of else text)


def sizes_of(args, named=None):
    """`f(2, 3)`, `f((2, 3))` and `f(size=(2, 3))` all give (2, 3); sizes may be 0-d tensors or NumPy integers."""
    args = tuple(named.values()) if named else args
    sizes = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    return tuple([n if type(n) is int else size_of(n) for n in sizes])


def size_of(n):
    return int(n) if isinstance(n, Tensor) and n.array.dtype.kind in "iu" else operator.index(n)


def ints(value):
    """An int or a sequence of ints, as a tuple."""
    return tuple([operator.index(v) for v in value]) if isinstance(value, (tuple, list)) else (operator.index(value),)


def inferred(size, count):
    """The size with its -1 filled in, for `count` elements."""
    if -1 not in size and (not size or min(size) >= 0):
        if math.prod(size) != count:
            raise invalid(size, count)
        return size
    unknown = None
    for i, n in enumerate(size):
        if n == -1:
            require(unknown is None, "only one dimension can be inferred")
            unknown = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(size)}")
    known = math.prod(n for n in size if n != -1)
    if known == 0 == count:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because "
            "the unspecified dimension size -1 can be any value and is ambiguous"
        )
    if known == 0 or count % known:
        raise invalid(size, count)
    return (*size[:unknown], count // known, *size[unknown + 1 :])


def invalid(size, count):
    return RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")


def broadcast(first, second):
    """The common shape of two, or PyTorch's error."""
    if first == second:
        return tuple(first)
    length = max(len(first), len(second))
    a, b = ((1,) * (length - len(shape)) + tuple(shape) for shape in (first, second))
    for i in reversed(range(length)):
        if a[i] != b[i] and 1 not in (a[i], b[i]):
            raise RuntimeError(f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) at non-singleton dimension {i}")
    return tuple([m if n == 1 else n for n, m in zip(a, b)])


def lead(dim):
    """The index that leaves the dims before `dim` whole."""
    return (slice(None),) * dim
