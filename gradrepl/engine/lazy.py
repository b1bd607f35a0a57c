"""SciPy, imported when a function of it is first called. Imports promotion."""

import functools

import numpy as np

from gradrepl.engine.promotion import SCALARS

# what PyTorch calls its kernel, where that is not SciPy's name with _cpu behind it
KERNELS = dict(
    erf="erf_vml_cpu", erfc="erfc_vml_cpu", erfinv="erfinv_vml_cpu", i0="i0_vml_cpu", gammaln="lgamma_vml_cpu", digamma="digamma"
)
NO_HALF = {"erfcx", "log_ndtr", "ndtri"}


@functools.cache
def scipy_special(name):
    import scipy.special

    return getattr(scipy.special, name)


def special(name, *arrays):
    """A special function of real numbers, computed in double precision; the answer has the dtype of the last array."""
    kind = arrays[-1].dtype
    if kind.kind == "c" or (kind.char == "e" and name in NO_HALF):
        raise NotImplementedError(f"\"{KERNELS.get(name, f'{name}_cpu')}\" not implemented for '{SCALARS[kind.name]}'")
    result = scipy_special(name)(*[x.astype(np.float64, copy=False) for x in arrays])
    return result.astype(kind, copy=False)
