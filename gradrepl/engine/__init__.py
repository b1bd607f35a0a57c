"""The autograd engine: NumPy (and, when first needed, SciPy) and nothing else. Importing it declares every op."""

import warnings

from gradrepl.engine import (
    anomaly,
    backward,
    constructor,
    conversions,
    copies,
    factories,
    facts,
    formulas,
    function,
    memory,
    ops,
    printing,
    random,
    sampling,
    storages,
    subclasses,
)

# PyTorch computes nan and inf in silence. Filtered once, by module: np.errstate round each op would cost 0.7 us.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradrepl\.")
facts.seal(facts.Tensor)
