"""What formulas call when one expression is not enough, a family a file. Everything here runs on tensors, so that it can be differentiated."""

from gradrepl.engine.formulas import (
    general,
    indexing,
    joining,
    losses,
    pointwise,
    products,
    rearranging,
    reductions,
    scattering,
    shapes,
)
