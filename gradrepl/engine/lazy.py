"""SciPy, imported when a function of it is first called."""

import functools

import numpy as np


@functools.cache
def scipy_special(name):
    import scipy.special

    return getattr(scipy.special, name)


def special(name, *arrays):
    """A special function, computed in double precision; the answer has the dtype of the last array."""
    kind = arrays[-1].dtype
    result = scipy_special(name)(*[x.astype(np.float64, copy=False) for x in arrays])
    return result.astype(kind, copy=False)
