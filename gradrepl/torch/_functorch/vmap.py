"""vmap by its definition: the function runs on each slice, and the results are stacked. Imports the public torch and the engine's modes."""

__name__ = __name__.removeprefix("gradrepl.")

from functools import partial, wraps

from gradrepl import torch
from gradrepl.engine.modes import here
from gradrepl.torch.utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_unflatten

NO_INPUTS = (
    "vmap({})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. The "
    "latter "
    "is unsupported."
)
BAD_DIMS = "vmap({}, in_dims={}, ...)(<inputs>): "
WRONG_TYPE = "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {}."
INCOMPATIBLE = "in_dims is not compatible with the structure of `inputs`. in_dims has structure {} but inputs has structure {}."
NOT_INT = "Got in_dim={} for an input but in_dim must be either an integer dimension or None."
NOT_TENSOR = (
    "Got in_dim={} for an input but the input is of type {}. We cannot vmap over non-Tensor arguments, please use None as the respective "
    "in_dim"
)
NO_SUCH_DIM = (
    "Got in_dim={} for some input, but that input is a Tensor of dimensionality {} so expected in_dim to satisfy -{} <= in_dim < {}."
)
UNEQUAL = "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped dimension"
NOTHING_MAPPED = "vmap({}, in_dims={}, ...)(<inputs>): at least one of the inputs must be mapped over (in_dims must not all be None)"
RETURNED = "vmap({}, ...): `{}` must only return Tensors, got type {}. Did you mean to set out_dims= to None for output?"
OUT_STRUCTURE = (
    "vmap({}, ..., out_dims={})(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure {} but "
    "outputs "
    "has structure {}."
)
RANDOMNESS = "Only allowed values for randomness are 'error', 'different', or 'same'. Got {}"


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps `func` over a dimension of its arguments."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(RANDOMNESS.format(randomness))
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @wraps(func)
    def wrapped(*args, **kwargs):
        name = getattr(func, "__name__", repr(func))
        leaves, dims, spec = mapped(name, args, in_dims)
        count = common_size(leaves, dims, name, in_dims)
        state = torch.get_rng_state() if randomness == "same" else None
        columns = []
        here.transforms += 1
        here.mapping += 1
        outer, here.randomness = here.randomness, randomness
        try:
            for n in range(max(count, 1)):
                if state is not None:
                    torch.set_rng_state(state)
                columns.append(func(*tree_unflatten(slices(leaves, dims, n, count), spec), **kwargs))
        finally:
            here.transforms -= 1
            here.mapping -= 1
            here.randomness = outer
        return joined(columns, out_dims, name, count)

    return wrapped


def mapped(name, args, in_dims):
    """The leaves of the arguments and the dimension each is mapped over."""
    prefix = BAD_DIMS.format(name, in_dims)
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(prefix + WRONG_TYPE.format(type(in_dims)))
    if not args:
        raise ValueError(NO_INPUTS.format(name))
    leaves, spec = tree_flatten(args)
    dims = broadcast_to_and_flatten(in_dims, spec, lambda dim: isinstance(dim, int) or dim is None)
    if dims is None:
        raise ValueError(prefix + INCOMPATIBLE.format(tree_flatten(in_dims)[1], spec))
    return leaves, [checked_dim(prefix, x, dim) for x, dim in zip(leaves, dims)], spec


def checked_dim(prefix, leaf, dim):
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(prefix + NOT_INT.format(dim))
    if not isinstance(leaf, torch.Tensor):
        raise ValueError(prefix + NOT_TENSOR.format(dim, type(leaf)))
    if not -leaf.dim() <= dim < leaf.dim():
        raise ValueError(prefix + NO_SUCH_DIM.format(dim, leaf.dim(), leaf.dim(), leaf.dim()))
    return dim % leaf.dim()


def common_size(leaves, dims, name, in_dims):
    sizes = [x.size(dim) for x, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError(NOTHING_MAPPED.format(name, in_dims))
    if len(set(sizes)) > 1:
        raise ValueError(UNEQUAL.format(sizes))
    return sizes[0]


def slices(leaves, dims, n, count):
    """The arguments of one call. Over nothing, the function is called on zeros, for the shape of its result."""
    if not count:
        return [x if d is None else x.new_zeros(x.shape[:d] + x.shape[d + 1 :]) for x, d in zip(leaves, dims)]
    return [x if d is None else x.select(d, n) for x, d in zip(leaves, dims)]


def joined(columns, out_dims, name, count):
    """The results of all calls as one."""
    leaves, specs = zip(*map(tree_flatten, columns))
    dims = broadcast_to_and_flatten(out_dims, specs[0], lambda dim: isinstance(dim, int) or dim is None)
    if dims is None:
        raise ValueError(OUT_STRUCTURE.format(name, out_dims, tree_flatten(out_dims)[1], specs[0]))
    for x, dim in zip(leaves[0], dims):
        if not isinstance(x, torch.Tensor) and dim is not None:
            raise ValueError(RETURNED.format(name, name, type(x)))
    stack = partial(stacked, count=count)
    return tree_unflatten([column[0] if dim is None else stack(column, dim) for column, dim in zip(zip(*leaves), dims)], specs[0])


def stacked(column, dim, count):
    return torch.stack(column, dim) if count else column[0].unsqueeze(dim).narrow(dim, 0, 0)
