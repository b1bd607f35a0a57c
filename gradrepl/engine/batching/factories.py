"""How new tensors are made inside vmap: in the likeness of a batched one, and from random numbers. Imports rules."""

import contextlib

import numpy as np

from gradrepl.engine.batching.nests import nested
from gradrepl.engine.batching.rules import rule
from gradrepl.engine.factories import sizes_of
from gradrepl.engine.modes import here
from gradrepl.engine.names import NAMES
from gradrepl.engine.random import NO_RANDOMNESS
from gradrepl.engine.tensor import Tensor, tensor_of

SAME = "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"


@rule("zeros_like ones_like empty_like full_like")
def like(call, input, *args, **named):
    return call.wrap(call.function(call.front(input), *args, **named))


@rule("new_zeros new_ones new_empty")
def new(call, self, *size, **named):
    size = sizes_of((named.pop("size"),) if "size" in named else size)
    return call.wrap(call.function(call.front(self), (call.size, *size), **named))


@rule("new_full")
def new_full(call, self, size, fill_value, **named):
    return call.wrap(call.function(call.front(self), (call.size, *size), fill_value, **named))


@rule("new_tensor")
def new_tensor(call, self, data, **named):
    return call.wrap(call.full(call.function(call.front(self), data, **named)))


# ---- random numbers


def mode_at(level):
    return next(mode for each, _, mode in here.batches if each == level)


@contextlib.contextmanager
def outside(call):
    """What the vmap of this level says of random numbers was heeded: now those round it have their say."""
    if mode_at(call.level) == "error":
        raise RuntimeError(NO_RANDOMNESS)
    kept = here.randomness
    while here.randomness and here.randomness[1] >= call.level:
        here.randomness = here.randomness[-1]
    try:
        yield mode_at(call.level) == "different"
    finally:
        here.randomness = kept


@rule("rand randn")
def sized(call, *size, **named):
    size = sizes_of((named.pop("size"),) if "size" in named else size)
    with outside(call):
        return call.wrap(call.function((call.size, *size), **named))


@rule("randint normal")
def sized_last(call, *args, **named):
    """The size is the last argument, or has its name."""
    if "size" in named:
        named["size"] = (call.size, *named["size"])
    else:
        args = (*args[:-1], (call.size, *args[-1]))
    with outside(call):
        return call.wrap(call.function(*args, **named))


@rule("randperm")
def one_by_one(call, *args, **named):
    with outside(call):
        rows = [call.function(*args, **named) for _ in range(call.size)]
        return call.wrap(NAMES["stack_op"](rows, 0))


@rule("rand_like randn_like randint_like")
def random_like(call, input, *args, **named):
    with outside(call) as different:
        if different:
            return call.wrap(call.function(call.full(input), *args, **named))
        return call.function(blank(input), *args, **named)


def blank(x):
    return tensor_of(np.empty(x.array.shape, x.array.dtype))


@rule("""uniform_fill normal_fill exponential_fill cauchy_fill log_normal_fill geometric_fill bernoulli_number bernoulli_tensor random_all
    random_below random_between""")
def filled(call, self, *args):
    with outside(call) as different:
        if different:
            args = [call.padded(x, self.array.ndim) if isinstance(x, Tensor) else x for x in args]
            return call.function(call.front(self), *args)
        if any(call.holds(x) for x in args):
            raise RuntimeError(SAME)
        return call.front(self).copy_(call.function(blank(self), *args))


@rule("bernoulli_of normal_around normal_spread normal_pairs poisson_of standard_gamma sample_dirichlet multinomial")
def drawn_from(call, *args, **named):
    with outside(call) as different:
        if not different:
            raise RuntimeError(SAME)
        return call.wrap(call.function(*[call.full(x) if isinstance(x, Tensor) else x for x in args], **named))


def noise_blank(shape, dtype):
    """What is about to be filled with random numbers, other ones for every example."""
    different = tuple([(level, size) for level, size, mode in here.batches if mode == "different"])
    return nested(tensor_of(np.empty((*[size for _, size in different], *shape), dtype)), different)


NAMES["noise_blank"] = noise_blank
