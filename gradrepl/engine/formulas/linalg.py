"""Derivatives of decompositions and solvers. Everything here runs on tensors, so that it can be differentiated.

Notation: g is a gradient, ^H the conjugate transpose, I the identity. Formulas are those of "An extended collection of matrix derivative
results for forward and reverse mode automatic differentiation" (Giles, 2008), extended to complex and rectangular matrices.
"""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.formulas.general import zeros_like
from gradrepl.engine.formulas.pointwise import conj
from gradrepl.engine.modes import here
from gradrepl.engine.ops.decompositions import (
    is_turned,
    linalg_lu_solve_op,
    linalg_matrix_exp_op,
    linalg_solve_triangular_op,
    linalg_svd_op,
    lu_unpack_op,
)
from gradrepl.engine.ops.joining import cat
from gradrepl.engine.ops.linalg import linalg_solve, product_without, to_complex
from gradrepl.engine.tensor import tensor_of

GAUGE = (
    "{}_backward: The {} vectors in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss function "
    "depends on this quantity, so it is ill-defined."
)


def H(tensor):
    return conj(tensor.transpose(-2, -1))


def skew(tensor):
    return tensor - H(tensor)


def is_complex(tensor):
    return tensor.array.dtype.kind == "c"


def diagonal(tensor):
    return tensor.diagonal(0, -2, -1)


def with_unit_diagonal(tensor):
    """The same off the diagonal, ones on it."""
    eye = np.eye(tensor.array.shape[-1], dtype=bool)
    return tensor.masked_fill(tensor_of(eye), 1)


def differences(values):
    """values_j - values_i at (i, j), ones on the diagonal."""
    return with_unit_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1))


def halved_diagonal(tensor):
    weight = np.ones(tensor.array.shape[-2:], tensor.array.real.dtype)
    np.fill_diagonal(weight, 0.5)
    return tensor * tensor_of(weight)


def check_gauge(diagonal, name, kind):
    if is_complex(diagonal):
        imaginary = diagonal.array.imag
        if not np.allclose(imaginary, 0, rtol=1e-2, atol=1e-2):
            raise RuntimeError(GAUGE.format(name, kind))


@formula
def svd_backward(grads, U, S, Vh, full_matrices):
    gU, gS, gVh = grads
    k = S.array.shape[-1]
    if full_matrices:
        U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)
        gU = None if gU is None else gU.narrow(-1, 0, k)
        gVh = None if gVh is None else gVh.narrow(-2, 0, k)
    m, n = U.array.shape[-2], Vh.array.shape[-1]
    if gU is None and gVh is None:
        return U.matmul(gS.unsqueeze(-1) * Vh) if m >= n else (U * gS.unsqueeze(-2)).matmul(Vh)
    inner = svd_core(gU, gS, gVh, U, S, Vh)
    if m > k and gU is not None:
        scaled = gU / S.unsqueeze(-2)
        return (U.matmul(inner) + scaled - U.matmul(H(U).matmul(scaled))).matmul(Vh)
    if n > k and gVh is not None:
        scaled = gVh / S.unsqueeze(-1)
        return U.matmul(inner.matmul(Vh) + scaled - scaled.matmul(H(Vh)).matmul(Vh))
    return U.matmul(inner.matmul(Vh)) if m >= n else U.matmul(inner).matmul(Vh)


def svd_core(gU, gS, gVh, U, S, Vh):
    """The gradient between U and V^H: ((U^H gU) / E) S + S ((V^H gV) / E) + diag(gS), E_ij = S_j^2 - S_i^2."""
    E = differences(S * S)
    left = None if gU is None else skew(H(U).matmul(gU))
    right = None if gVh is None else skew(Vh.matmul(H(gVh)))
    if is_complex(U):
        total = (0 if left is None else diagonal(left)) + (0 if right is None else diagonal(right))
        if not np.allclose(total.array.imag, 0, rtol=1e-2, atol=1e-2):
            raise RuntimeError(GAUGE.format("svd", "singular"))
    inner = None if left is None else (left / E) * S.unsqueeze(-2)
    if right is not None:
        other = S.unsqueeze(-1) * (right / E)
        inner = other if inner is None else inner + other
    if gS is not None:
        inner = inner + gS.diag_embed()
    if is_complex(U) and left is not None and right is not None:
        inner = inner + (diagonal(left) / (2 * S)).diag_embed()
    return inner


@formula
def eigh_backward(grads, L, V):
    gL, gV = grads
    if gV is None:
        return (V * gL.unsqueeze(-2)).matmul(H(V))
    inner = H(V).matmul(gV)
    check_gauge(diagonal(inner), "linalg_eigh", "eigen")
    result = V.matmul(with_diagonal(inner / differences(L), gL).matmul(H(V)))
    return 0.5 * (result + H(result))


def with_diagonal(tensor, values):
    """The tensor with its diagonal replaced; None is zero."""
    eye = tensor_of(np.eye(tensor.array.shape[-1], dtype=bool))
    cleared = tensor.masked_fill(eye, 0)
    return cleared if values is None else cleared + values.diag_embed()


@formula
def eig_backward(grads, dtype, L, V):
    gL, gV = grads
    if gV is None:
        result = linalg_solve(H(V), gL.unsqueeze(-1) * H(V))
    else:
        inner = H(V).matmul(gV)
        check_gauge(diagonal(inner), "linalg_eig", "eigen")
        inner = inner - H(V).matmul(V * to_complex(diagonal(inner).real).unsqueeze(-2))
        inner = with_diagonal(inner / differences(conj(L)), gL)
        result = linalg_solve(H(V), inner.matmul(H(V)))
    return result if dtype.kind == "c" else result.real


@formula
def cholesky_backward(grad, upper, L):
    """gA = L^-H phi(L^H gL) L^-1, phi taking half of the symmetric part."""
    if upper:
        L, grad = H(L), H(grad)
    inner = H(L).matmul(grad).tril()
    inner = 0.5 * (inner + H(inner.tril(-1)))
    inner = linalg_solve_triangular_op(H(L), inner, True, True)
    return linalg_solve_triangular_op(L, inner, False, False)


@formula
def inverse_backward(grad, inverse):
    return -H(inverse).matmul(grad.matmul(H(inverse)))


@formula
def solve_backward(grad, X, A, LU, pivots, left, mask):
    vector = X.array.ndim == 1 or (LU.array.ndim - 1 == X.array.ndim and X.array.shape == LU.array.shape[:-1])
    as_matrix = lambda x: x.unsqueeze(-1) if vector else x
    if here.grad:
        gB = linalg_solve(H(A), as_matrix(grad), left=left)
    else:
        gB = linalg_lu_solve_op(LU, pivots, as_matrix(grad), left, True)
    gA = None
    if mask[0]:
        gA = -gB.matmul(H(as_matrix(X))) if left else -H(as_matrix(X)).matmul(gB)
    return gA, (gB.squeeze(-1) if vector else gB) if mask[1] else None


def on_diagonal(values, like):
    """values * I, for every matrix of the batch."""
    return values.unsqueeze(-1).expand(*like.array.shape[:-1]).diag_embed()


@formula
def det_backward(grad, det, A, LU, pivots):
    if (det.array == 0).any():
        return singular_det_backward(grad, A)
    wanted = on_diagonal(grad * conj(det), A)
    if here.grad:
        return linalg_solve(H(A), wanted)
    return linalg_lu_solve_op(LU, pivots, wanted, True, not is_turned(A.array))


def singular_det_backward(grad, A):
    """Through the singular values, of which some are zero: the product of the others."""
    U, S, Vh = linalg_svd_op(A, True)
    phase = conj(U.det() * Vh.det()) * grad
    weights = phase.unsqueeze(-1) * product_without(S)
    return (U * weights.unsqueeze(-2)).matmul(Vh)


@formula
def slogdet_backward(grad_sign, grad_logabsdet, A, sign, LU, pivots):
    if is_complex(A):
        value = zeros_like(sign) if grad_logabsdet is None else to_complex(grad_logabsdet)
        if grad_sign is not None:
            value = value - 1j * to_complex((conj(grad_sign) * sign).imag)
    else:
        if grad_logabsdet is None:
            return None
        value = grad_logabsdet
    wanted = on_diagonal(value, A)
    if here.grad:
        return linalg_solve(H(A), wanted)
    return linalg_lu_solve_op(LU, pivots, wanted, True, not is_turned(A.array))


@formula
def qr_backward(grads, Q, R, mode):
    gQ, gR = grads
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you "
            "are going to require the derivatives wrt. Q or R."
        )
    m, n = Q.array.shape[-2], R.array.shape[-1]
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    inner = None if gR is None else gR.matmul(H(R))
    if m >= n:
        if gQ is not None:
            inner = -H(Q).matmul(gQ) if inner is None else inner - H(Q).matmul(gQ)
        inner = inner.triu()
        symmetric = halved_diagonal(inner + H(inner))
        result = Q.matmul(symmetric) if gQ is None else gQ + Q.matmul(symmetric)
        return linalg_solve_triangular_op(H(R), result, False, False)
    return wide_qr_backward(gQ, gR, inner, Q, R)


def wide_qr_backward(gQ, gR, inner, Q, R):
    m, n = Q.array.shape[-2], R.array.shape[-1]
    if gQ is not None:
        inner = H(Q).matmul(gQ) if inner is None else H(Q).matmul(gQ) - inner
    else:
        inner = -inner
    left = Q.matmul(halved_diagonal((inner - H(inner)).tril()))
    left = linalg_solve_triangular_op(H(R.narrow(-1, 0, m)), left, False, False)
    zeros = tensor_of(np.zeros((*left.array.shape[:-1], n - m), left.array.dtype))
    result = cat([left, zeros], -1)
    return result if gR is None else result + Q.matmul(gR)


@formula
def lu_factor_ex_backward(grad, LU, pivots, pivot):
    P, L, U = lu_unpack_op(LU, pivots, True, pivot)
    k = min(LU.array.shape[-2:])
    gL = grad.narrow(-1, 0, k).tril(-1)
    return lu_backward(gL, grad.narrow(-2, 0, k).triu(), P, L, U, pivot)


@formula
def lu_backward(gL, gU, P, L, U, pivot):
    """With X = L^-1 P^T dA U^-1: dL = L tril(X, -1), dU = triu(X) U; what sticks out of the square part follows."""
    m, n, k = L.array.shape[-2], U.array.shape[-1], L.array.shape[-1]
    L1, U1 = L.narrow(-2, 0, k), U.narrow(-1, 0, k)
    low = None if gL is None else H(L1).matmul(gL.narrow(-2, 0, k))
    high = None if gU is None else gU.narrow(-1, 0, k).matmul(H(U1))
    if n > k and gU is not None:
        rest = gU.narrow(-1, k, n - k).matmul(H(U.narrow(-1, k, n - k)))
        low = -rest if low is None else low - rest
    if m > k and gL is not None:
        rest = H(L.narrow(-2, k, m - k)).matmul(gL.narrow(-2, k, m - k))
        high = -rest if high is None else high - rest
    inner = added(None if low is None else low.tril(-1), None if high is None else high.triu())
    result = linalg_solve_triangular_op(H(L1), linalg_solve_triangular_op(H(U1), inner, False, False), True, True, True)
    if n > k:
        right = zeros_of(result, n - k, -1) if gU is None else linalg_solve_triangular_op(H(L1), gU.narrow(-1, k, n - k), True, True, True)
        result = cat([result, right], -1)
    if m > k:
        below = zeros_of(result, m - k, -2) if gL is None else linalg_solve_triangular_op(H(U1), gL.narrow(-2, k, m - k), False, False)
        result = cat([result, below], -2)
    return P.matmul(result) if pivot else result


def added(first, second):
    return second if first is None else first if second is None else first + second


def zeros_of(like, count, dim):
    shape = list(like.array.shape)
    shape[dim] = count
    return tensor_of(np.zeros(shape, like.array.dtype))


@formula
def lu_unpack_backward(gL, gU, m, n):
    low = None if gL is None else gL.tril(-1)
    high = None if gU is None else gU.triu()
    if low is not None and n > m:
        low = cat([low, zeros_of(low, n - m, -1)], -1)
    if high is not None and m > n:
        high = cat([high, zeros_of(high, m - n, -2)], -2)
    return added(low, high)


@formula
def lu_solve_LU_backward(grad, LU, pivots, X, left, adjoint):
    """G, the gradient of the product L U, from X = (P L U)^-1 B and its variants; then gL = tril(G U^H, -1), gU = triu(L^H G)."""
    P, L, U = lu_unpack_op(LU, pivots)
    solve = lambda right, on_left, adjoint: unpermuted_solve(L, U, right, on_left, adjoint)
    if left and not adjoint:
        G = -solve(grad, True, True).matmul(H(X))
    elif left:
        G = -H(P).matmul(X).matmul(H(solve(H(P).matmul(grad), True, False)))
    elif not adjoint:
        G = -H(X.matmul(P)).matmul(solve(grad.matmul(P), False, True))
    else:
        G = -solve(H(grad), True, True).matmul(X)
    return G.matmul(H(U)).tril(-1) + H(L).matmul(G).triu()


def unpermuted_solve(L, U, right, on_left, adjoint):
    """Solve with the product L U (or its adjoint) on one side."""
    triangular = linalg_solve_triangular_op
    if on_left:
        if adjoint:
            return triangular(H(L), triangular(H(U), right, False), True, True, True)
        return triangular(U, triangular(L, right, False, True, True), True)
    if adjoint:
        return triangular(H(U), triangular(H(L), right, True, False, True), False, False)
    return triangular(L, triangular(U, right, True, False), False, False, True)


@formula
def solve_triangular_backward(grad, A, X, upper, left, unitriangular, mask):
    gB = linalg_solve_triangular_op(H(A), grad, not upper, left, unitriangular)
    gA = None
    if mask[0]:
        gA = -gB.matmul(H(X)) if left else -H(X).matmul(gB)
        gA = gA.triu(int(unitriangular)) if upper else gA.tril(-int(unitriangular))
    return gA, gB if mask[1] else None


@formula
def triangular_solve_backward(grads, self, A, X, upper, transpose, unitriangular, mask):
    grad, of_clone = grads
    gB = gA = None
    if grad is not None:
        gB = linalg_solve_triangular_op(A if transpose else H(A), grad, upper if transpose else not upper, True, unitriangular)
        gA = -X.matmul(H(gB)) if transpose else -gB.matmul(H(X))
        gA = gA.triu(int(unitriangular)) if upper else gA.tril(-int(unitriangular))
    return gB if mask[0] else None, added(gA, of_clone) if mask[1] else None


@formula
def cholesky_solve_backward(grad, self, L, X, upper, mask):
    gB = grad.cholesky_solve(L, upper)
    common = gB.matmul(H(X))
    common = common + H(common)
    return gB if mask[0] else None, (-L.matmul(common) if upper else -common.matmul(L)) if mask[1] else None


@formula
def cholesky_inverse_backward(grad, L, upper, inverse):
    common = inverse.matmul((grad + H(grad)).matmul(inverse))
    return -L.matmul(common) if upper else -common.matmul(L)


@formula
def lstsq_backward(grads, A, B, X, mask):
    gX, gL = grads[:2]
    vector = A.array.ndim - 1 == B.array.ndim
    as_matrix = lambda x: x.unsqueeze(-1) if vector else x
    gA = gB = None
    if gX is not None:
        inverse = A.pinverse()
        gX = as_matrix(gX)
        gA = pinv_backward(gX.matmul(H(as_matrix(B))), inverse, A) if mask[0] else None
        gB = H(inverse).matmul(gX) if mask[1] else None
    if gL is not None and gL.array.size:
        residual = A.matmul(as_matrix(X)) - as_matrix(B)
        weighted = 2 * gL.unsqueeze(-2) * residual
        gA = added(gA, weighted.matmul(H(as_matrix(X)))) if mask[0] else None
        gB = added(gB, -weighted) if mask[1] else None
    return gA, gB.squeeze(-1) if vector and gB is not None else gB


@formula
def pinv_backward(grad, inverse, A):
    m, n = A.array.shape[-2:]
    adjoint, gradient = H(inverse), H(grad)
    if m <= n:
        K = gradient.matmul(inverse)
        KA = K.matmul(adjoint)
        return -H(inverse.matmul(K)) + KA - A.matmul(inverse).matmul(KA) + adjoint.matmul(inverse).matmul(gradient - K.matmul(A))
    K = inverse.matmul(gradient)
    AK = adjoint.matmul(K)
    return -H(K.matmul(inverse)) + (gradient - A.matmul(K)).matmul(inverse).matmul(adjoint) + AK - AK.matmul(inverse).matmul(A)


@formula
def matrix_exp_backward(self, grad):
    """The upper right block of exp([[A^H, g], [0, A^H]])."""
    n = self.array.shape[-1]
    A = H(self)
    blocks = cat([cat([A, grad], -1), cat([zeros_like(A), A], -1)], -2)
    return linalg_matrix_exp_op(blocks).narrow(-2, 0, n).narrow(-1, n, n)


def reflector(reflectors, i):
    """v_i: column i below the diagonal, with a one on it, as a column."""
    rows = reflectors.array.shape[-2]
    column = reflectors.narrow(-1, i, 1)
    mask = tensor_of((np.arange(rows) > i).astype(reflectors.array.dtype).reshape(rows, 1))
    unit = tensor_of((np.arange(rows) == i).astype(reflectors.array.dtype).reshape(rows, 1))
    return column * mask + unit


def householder_gradients(grad, reflectors, tau, columns):
    """gtau_i = -v^H M v and gv_i = -(conj(tau) M v + tau M^H v), M = P^H g R^H for Q = P H_i R."""
    rows, count = reflectors.array.shape[-2], tau.array.shape[-1]
    vectors = [reflector(reflectors, i) for i in range(count)]
    taus = [tau.narrow(-1, i, 1).unsqueeze(-1) for i in range(count)]
    after = [tensor_of(np.eye(rows, columns, dtype=reflectors.array.dtype))]
    for v, t in zip(vectors[:0:-1], taus[:0:-1]):
        after.append(after[-1] - t * v.matmul(H(v).matmul(after[-1])))
    after.reverse()
    of_tau, of_columns = [], []
    for i, (v, t) in enumerate(zip(vectors, taus)):
        M = grad.matmul(H(after[i]))
        Mv = M.matmul(v)
        of_tau.append(-H(v).matmul(Mv).squeeze(-1))
        mask = tensor_of((np.arange(rows) > i).astype(reflectors.array.dtype).reshape(rows, 1))
        of_columns.append(-(conj(t) * Mv + t * H(M).matmul(v)) * mask)
        grad = grad - conj(t) * v.matmul(H(v).matmul(grad))
    return of_columns, of_tau


def joined_gradients(of_columns, of_tau, reflectors, tau):
    width = reflectors.array.shape[-1]
    zeros = [zeros_of(reflectors, width - len(of_columns), -1)] if len(of_columns) < width else []
    return cat([*of_columns, *zeros], -1) if of_columns else zeros_like(reflectors), cat(of_tau, -1) if of_tau else zeros_like(tau)


@formula
def householder_product_backward(grad, result, input, tau):
    if not (input.array.size and tau.array.size):
        return None, None
    return joined_gradients(*householder_gradients(grad, input, tau, input.array.shape[-1]), input, tau)


@formula
def ormqr_backward(grad, result, self, tau, other, left, transpose, mask):
    of_other = self.ormqr(tau, grad, left, not transpose) if mask[2] else None
    if not (mask[0] or mask[1]) or not (self.array.size and tau.array.size):
        return None, None, of_other
    of_Q = grad.matmul(H(other)) if left else H(other).matmul(grad)
    of_Q = H(of_Q) if transpose else of_Q
    columns, taus = householder_gradients(of_Q, self, tau, self.array.shape[-2])
    return *joined_gradients(columns, taus, self, tau), of_other
