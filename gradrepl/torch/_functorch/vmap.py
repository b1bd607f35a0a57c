"""vmap: the function runs once, on batched tensors. Imports the public torch, the engine's batched tensors and modes."""

__name__ = __name__.removeprefix("gradrepl.")

from functools import wraps

from gradrepl import torch
from gradrepl.engine.batching.dispatch import moved
from gradrepl.engine.batching.functions import mapping
from gradrepl.engine.batching.tensor import BatchedTensor, wrapped
from gradrepl.engine.tensor import Batched
from gradrepl.torch.utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_unflatten

NO_INPUTS = (
    "vmap({})(<inputs>): got no inputs. Maybe you forgot to add inputs, "
    "or you are trying to vmap over a function with no inputs. The latter is unsupported."
)
BAD_DIMS = "vmap({}, in_dims={}, ...)(<inputs>): "
WRONG_TYPE = "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {}."
INCOMPATIBLE = "in_dims is not compatible with the structure of `inputs`. in_dims has structure {} but inputs has structure {}."
NOT_INT = "Got in_dim={} for an input but in_dim must be either an integer dimension or None."
NOT_TENSOR = (
    "Got in_dim={} for an input but the input is of type {}. "
    "We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
)
NO_SUCH_DIM = (
    "Got in_dim={} for some input, but that input is a Tensor of dimensionality {} so expected in_dim to satisfy -{} <= in_dim < {}."
)
UNEQUAL = "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped dimension"
NOTHING_MAPPED = "vmap({}, in_dims={}, ...)(<inputs>): at least one of the inputs must be mapped over (in_dims must not all be None)"
RETURNED = "vmap({}, ...): `{}` must only return Tensors, got type {}. Did you mean to set out_dims= to None for output?"
OUT_STRUCTURE = (
    "vmap({}, ..., out_dims={})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
    "out_dims has structure {} but outputs has structure {}."
)
OUT_DIMS = (
    "vmap({}, ..., out_dims={}): `out_dims` must be an int, None or a python collection of ints representing where in the outputs the "
    "vmapped dimension should appear."
)
RANDOMNESS = "Only allowed values for randomness are 'error', 'different', or 'same'. Got {}"
BATCHED_OUTPUT = "vmap({}, ...): `{}` can not return a BatchedTensor when out_dim is None"
NO_RULE = "Batching rule not implemented; a batched tensor was asked for its values."


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps `func` over a dimension of its arguments."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(RANDOMNESS.format(randomness))
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @wraps(func)
    def wrapper(*args, **kwargs):
        name = getattr(func, "__name__", repr(func))
        leaves, dims, spec = mapped(name, args, in_dims)
        count = common_size(leaves, dims, name, in_dims)

        def run(leaves, count):
            return once(func, name, tree_of(leaves, spec), dims, out_dims, randomness, kwargs, count)

        if chunk_size is None:
            return tree_unflatten(*run(leaves, count)[:2])
        state = torch.get_rng_state() if randomness == "same" else None
        runs = []
        for chunk, size in chunks(leaves, dims, count, chunk_size):
            if state is not None:
                torch.set_rng_state(state)
            runs.append(run(chunk, size))
        return joined(runs)

    return wrapper


def tree_of(leaves, spec):
    return lambda entered: tree_unflatten([entered(x, n) for n, x in enumerate(leaves)], spec)


def once(func, name, arguments, dims, out_dims, randomness, kwargs, count):
    """One run of the function: (the leaves of the result, their nest, where the batch was put)."""
    with mapping(randomness, count) as level:
        inputs = arguments(lambda x, n: x if dims[n] is None else wrapped(x, dims[n], level))
        try:
            result = func(*inputs, **kwargs)
        except Batched:
            raise RuntimeError(NO_RULE) from None
    leaves, spec = tree_flatten(result)
    places = broadcast_to_and_flatten(out_dims, spec, lambda dim: isinstance(dim, int) or dim is None)
    if not all(isinstance(dim, int) or dim is None for dim in tree_flatten(out_dims)[0]):
        raise ValueError(OUT_DIMS.format(name, out_dims))
    if places is None:
        raise ValueError(OUT_STRUCTURE.format(name, out_dims, tree_flatten(out_dims)[1], spec))
    return [left(x, dim, level, name, count) for x, dim in zip(leaves, places)], spec, places


def left(x, dim, level, name, count):
    """A result, its batch an ordinary dimension again."""
    held = isinstance(x, BatchedTensor) and x.level == level
    if not isinstance(x, torch.Tensor):
        if dim is None:
            return x
        raise ValueError(RETURNED.format(name, name, type(x)))
    if dim is None:
        if held:
            raise ValueError(BATCHED_OUTPUT.format(name, name))
        return x
    rank = x.dim() + 1
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    if not held:
        return repeated(x, dim % rank, count)
    return moved(x.value, x.bdim, dim % rank)


def repeated(x, dim, count):
    """A result that is the same for all examples."""
    return moved(x.expand(count, *x.shape), 0, dim)


def chunks(leaves, dims, count, size):
    """The arguments of every run, where only so many examples may run at once."""
    for start in range(0, count, size):
        length = min(size, count - start)
        yield [x if d is None else x.narrow(d, start, length) for x, d in zip(leaves, dims)], length


def joined(runs):
    """The results of several runs as one."""
    columns, spec, places = zip(*[run[0] for run in runs]), runs[0][1], runs[0][2]
    return tree_unflatten([column[0] if dim is None else torch.cat(column, dim) for column, dim in zip(columns, places)], spec)


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
