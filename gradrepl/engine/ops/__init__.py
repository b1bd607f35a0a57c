"""The declarations of the ops, a family a file; those of algebra.py and nn.py come when they are first needed."""

from gradrepl.engine.ops import (
    activations,
    comparison,
    complex,
    composed_losses,
    cumulative,
    distances,
    extremes,
    indexing,
    joining,
    losses,
    norms,
    padding,
    pointwise,
    products,
    rearranging,
    reductions,
    scattering,
    shapes,
    sorting,
    special,
    statistics,
    unary,
    view_copies,
)
from gradrepl.engine.public import defer

defer(
    "gradrepl.engine.algebra",
    both="""
        cholesky cholesky_inverse cholesky_solve cross det eig geqrf histc histogram inverse istft logdet lstsq lu_solve matrix_exp
        matrix_power orgqr ormqr pinverse qr slogdet solve stft svd symeig triangular_solve
    """,
    functions="""
        _segment_reduce chain_matmul einsum histogramdd lu lu_unpack matrix_rank nuclear_norm pca_lowrank segment_reduce svd_lowrank
    """,
    methods="lu",
)
