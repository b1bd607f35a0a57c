"""The declarations of the ops, a family a file."""

from gradrepl.engine.ops import (
    activations,
    comparison,
    indexing,
    joining,
    losses,
    pointwise,
    products,
    rearranging,
    reductions,
    scattering,
    shapes,
    unary,
)
