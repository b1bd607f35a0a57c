"""Tensors of several levels taken apart for a backward, which knows nothing of levels, and put together again. Imports dispatch.

A graph is recorded on what is under all levels. A transform inside vmap differentiates each example by itself: what it differentiates by
must be batched at all levels round it, so that no gradient is summed over examples.
"""

from gradrepl.engine.batching.dispatch import moved
from gradrepl.engine.batching.tensor import BatchedTensor, wrapped
from gradrepl.engine.names import NAMES


def spread(x, levels):
    """A tensor batched at all these levels, [(level, size), …] from the outermost."""
    if not levels:
        return x
    level, size = levels[-1]
    if isinstance(x, BatchedTensor) and x.level == level:
        return wrapped(spread(x.value, levels[:-1]), x.bdim, level)
    value = spread(x, levels[:-1])
    return wrapped(NAMES["expand_sizes"](value, (size, *value.array.shape)), 0, level)


def bare(x, levels):
    """What is under these levels, their batches in front, the outermost first. Levels within them stay."""
    if not levels:
        return x
    if isinstance(x, BatchedTensor) and x.level > levels[-1][0]:
        inner = bare(moved(x.value, x.bdim, 0), levels)
        return wrapped(moved(inner, len(levels), 0), 0, x.level)
    x = spread(x, levels)
    for _ in levels:
        x = moved(x.value, x.bdim, 0)
    return x


def nested(x, levels):
    """The tensor that `bare` made this of."""
    if not levels:
        return x
    if isinstance(x, BatchedTensor) and x.level > levels[-1][0]:
        return wrapped(nested(moved(x.value, x.bdim, len(levels)), levels), 0, x.level)
    for level, _ in levels:
        x = wrapped(x, 0, level)
    return x
