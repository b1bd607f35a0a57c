"""The declarations of the ops, a family a file."""

from gradrepl.engine.ops import activations, comparison, losses, pointwise, reductions, shapes, unary
