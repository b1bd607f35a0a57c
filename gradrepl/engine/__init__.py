"""The autograd engine: NumPy (and, when first needed, SciPy) and nothing else. Importing it declares every op."""

from gradrepl.engine import (
    allocator,
    anomaly,
    attributes,
    backward,
    constructor,
    conversions,
    copies,
    factories,
    facts,
    formulas,
    function,
    holders,
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
allocator.keep_freed_memory()
facts.publish(vars(facts.Tensor), methods="requires_grad_ detach_ retain_grad")
attributes.seal(facts.Tensor, "torch._C.TensorBase")
