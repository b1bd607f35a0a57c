"""What formulas call when one expression is not enough, a family a file. All of it runs on tensors, so that it can be differentiated."""

from gradrepl.engine.formulas import (
    activations,
    array_forms,
    complex,
    general,
    indexing,
    joining,
    losses,
    padding,
    pointwise,
    products,
    rearranging,
    reductions,
    scattering,
    shapes,
    special,
    statistics,
)
