"""The declarations of the ops, a family a file."""

from gradrepl.engine.ops import (
    activations,
    comparison,
    complex,
    composed_losses,
    cumulative,
    indexing,
    joining,
    losses,
    norms,
    pointwise,
    products,
    rearranging,
    reductions,
    scattering,
    shapes,
    special,
    statistics,
    unary,
)
