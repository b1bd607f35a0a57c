"""The autograd engine: NumPy (and, when first needed, SciPy) and nothing else. Importing it declares every op."""

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
    silence,
    storages,
    subclasses,
    windows,
)

silence.quiet()
facts.seal(facts.Tensor)
