"""The `dim` arguments of operations: counted from the end, checked, several at once. Imports nothing."""

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
