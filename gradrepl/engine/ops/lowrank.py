"""Decompositions of low rank by random projections (Halko, Martinsson and Tropp, arXiv:0909.4061, algorithms 4.4 and 5.1)."""

from gradrepl.engine.dims import require
from gradrepl.engine.ops.linalg import linalg_qr, linalg_svd
from gradrepl.engine.ops.products import matmul
from gradrepl.engine.ops.shapes import adjoint, expand_sizes
from gradrepl.engine.public import FUNCTIONS, publish


def approximate_basis(A, q, niter):
    """q orthonormal columns that span nearly what the columns of A span."""
    Q = linalg_qr(matmul(A, FUNCTIONS["randn"](A.array.shape[-1], q, dtype=A.dtype)))[0]
    for _ in range(niter):
        Q = linalg_qr(matmul(adjoint(A), Q))[0]
        Q = linalg_qr(matmul(A, Q))[0]
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S, V with A - M nearly U diag(S) V^H, from q random directions."""
    A = A if M is None else A - expand_sizes(M, A.array.shape)
    tall = A.array.shape[-2] >= A.array.shape[-1]
    A = A if tall else adjoint(A)
    Q = approximate_basis(A, 6 if q is None else q, niter)
    U, S, Vh = linalg_svd(matmul(adjoint(Q), A), False)
    U, V = matmul(Q, U), adjoint(Vh)
    return (U, S, V) if tall else (V, S, U)


def pca_lowrank(A, q=None, center=True, niter=2):
    least = min(A.array.shape[-2:])
    q = min(6, least) if q is None else q
    require(0 <= q <= least, f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}", ValueError)
    require(niter >= 0, f"niter(={niter}) must be non-negative integer", ValueError)
    return svd_lowrank(A - A.mean((-2,), True) if center else A, q, niter)


publish(globals(), functions="svd_lowrank pca_lowrank")
