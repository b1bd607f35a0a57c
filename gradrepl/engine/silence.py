"""Keeps NumPy quiet about nan and inf in the engine, as PyTorch is, and only there. Imports NumPy only.

A filter of warnings by module is not enough: `warnings.catch_warnings` with "always", which tests and anomaly hunters use, sets it aside.
np.errstate round each op would cost 0.7 us. So NumPy is told to call a function, and that looks who computed.
"""

import sys
import warnings

import numpy as np


def complain(error, flag):
    """Warn as NumPy does, unless it was the engine that computed."""
    depth = 1
    while (name := sys._getframe(depth).f_globals.get("__name__", "")).startswith(("numpy.", "scipy.")):
        depth += 1
    if not name.startswith("gradrepl."):
        warnings.warn(f"{error} encountered", RuntimeWarning, stacklevel=depth + 1)


def quiet():
    """Have NumPy ask before it warns. Threads that start later have NumPy's own settings, so there the filter helps."""
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradrepl\.")
    np.seterrcall(complain)
    np.seterr(**{kind: "call" for kind, how in np.geterr().items() if how == "warn"})
