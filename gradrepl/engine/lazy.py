"""SciPy, imported when a function of it is first called."""

import functools

import numpy as np


@functools.cache
def scipy_special(name):
    import scipy.special

    return getattr(scipy.special, name)


def special(name, *arrays):
    """A special function; the answer has the dtype of the first array, half precision is computed in single."""
    result = scipy_special(name)(*arrays)
    return result.astype(arrays[0].dtype, copy=False) if isinstance(arrays[0], np.ndarray | np.generic) else result
