"""Decompositions and solvers of linear algebra, one matrix or a batch: declarations, 2-5 lines each. SciPy is imported on first use."""

import numpy as np

from gradrepl.engine.declare import Array, Maybe, op
from gradrepl.engine.dims import require
from gradrepl.engine.promotion import SCALARS


class LinAlgError(RuntimeError):
    """What torch.linalg raises for matrices an algorithm cannot handle."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"

# ---- checks


def check_matrix(array, name, what="A"):
    require(array.ndim >= 2, f"{name}: The input tensor {what} must have at least 2 dimensions.")


def check_square(array, name, what="A"):
    check_matrix(array, name, what)
    rows, columns = array.shape[-2:]
    require(rows == columns, f"{name}: {what} must be batches of square matrices, but they are {rows} by {columns} matrices")


def check_float(array, name, low=True):
    require(array.dtype.kind in "fc", name + ": Expected a floating point or complex tensor as input. Got {}", of=(array,))
    require(not low or array.itemsize > 2, name + ": Low precision dtypes not supported. Got {}", of=(array,))


def check_square_float(array, name):
    check_square(array, name)
    check_float(array, name)


def refuse_failures(name, info, text):
    """Raise for the first matrix whose `info` is not zero."""
    if not info.any():
        return
    place = int(np.flatnonzero(info)[0])
    batch = f"(Batch element {place}): " if info.ndim else ""
    raise LinAlgError(f"{name}: {batch}{text.format(info.reshape(-1)[place])}")


SINGULAR = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
NOT_POSITIVE = (
    "The factorization could not be completed because the input is not "
    "positive-definite (the leading minor of order {} is not positive-definite)."
)

# ---- LAPACK, matrix by matrix


def lapack(name, *arrays):
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs(name, arrays)


def over_batch(function, *arrays):
    """Apply a function of matrices to every member of a batch: its results, stacked."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return tuple([np.asarray(x) for x in function(*arrays)])
    found = [function(*[x[place] for x in arrays]) for place in np.ndindex(batch)]
    if not found:
        empty = function(*[np.zeros(x.shape[-2:], x.dtype) for x in arrays])
        return tuple([np.zeros(batch + np.shape(x), np.asarray(x).dtype) for x in empty])
    return tuple([np.stack(x).reshape(batch + np.shape(x[0])) for x in zip(*found)])


def by_columns(array):
    """The matrices laid out column by column, as LAPACK leaves them."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def factorized(matrix):
    """LU in one matrix, pivots counted from 1, and the number of the first zero on the diagonal."""
    if 0 in matrix.shape:
        return matrix.copy(), np.zeros(0, np.int32), np.int32(0)
    lu, pivots, info = lapack("getrf", matrix)(matrix)
    return lu, (pivots + 1).astype(np.int32), np.int32(info)


def check_factored(array, name, pivot):
    """What a factorization to LU asks for."""
    require(array.ndim >= 2, f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(array.shape)} instead")
    require(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    if array.dtype.kind in "biu":
        raise NotImplementedError(f"\"lu_cpu\" not implemented for '{SCALARS[array.dtype.name]}'")


def lower(lu):
    k = min(lu.shape[-2:])
    return np.tril(lu[..., :k], -1) + np.eye(lu.shape[-2], k, dtype=lu.dtype)


def upper(lu):
    return np.triu(lu[..., : min(lu.shape[-2:]), :])


def permutation(pivots, rows):
    """The rows' order after the swaps that pivots stand for."""
    order = np.arange(rows)
    for i, p in enumerate(pivots - 1):
        order[[i, p]] = order[[p, i]]
    return order


def permutation_matrices(pivots, rows, dtype):
    """P with A = P L U, for every member of a batch."""
    out = np.zeros((*pivots.shape[:-1], rows, rows), dtype)
    for place in np.ndindex(pivots.shape[:-1]):
        out[place][permutation(pivots[place], rows), np.arange(rows)] = 1
    return out


def det_sign(pivots):
    """-1 for an odd number of row swaps."""
    swaps = (pivots != np.arange(1, pivots.shape[-1] + 1)).sum(-1)
    return 1 - 2 * (swaps % 2)


# ---- decompositions


@op("LinalgSvdBackward0", outputs="U, S, Vh", A="svd_backward(grads, U, S, Vh, full_matrices)")
def linalg_svd_op(A, full_matrices=False, compute_uv=True, driver=None):
    check_matrix(A, "linalg.svd")
    check_float(A, "linalg.svd")
    if not np.isfinite(A).all():
        return without_numbers(A, full_matrices)
    if not compute_uv:
        return np.empty(0, A.dtype), np.linalg.svd(A, compute_uv=False), np.empty(0, A.dtype)
    U, S, Vh = np.linalg.svd(A, full_matrices)
    return by_columns(U), S, by_columns(Vh)


NOT_FINITE = "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."


def without_numbers(A, full_matrices):
    """What becomes of NaN and infinity: the algorithm fails, unless there is nothing to iterate."""
    *batch, m, n = A.shape
    k = min(m, n)
    if k > 1:
        raise LinAlgError(NOT_FINITE)
    nan = lambda *shape: np.full((*batch, *shape), np.nan, A.dtype)
    return nan(m, m if full_matrices else k), nan(k).real, nan(n if full_matrices else k, n)


@op("LinalgEighBackward0", outputs="eigenvalues, eigenvectors", A="eigh_backward(grads, eigenvalues, eigenvectors)")
def linalg_eigh_op(A, UPLO="L", compute_v=True):
    check_square_float(A, "linalg.eigh")
    require(UPLO.upper() in ("L", "U"), f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    if not compute_v:
        return np.linalg.eigvalsh(A, UPLO), np.empty(0, A.dtype)
    values, vectors = np.linalg.eigh(A, UPLO)
    return values, by_columns(vectors)


@op("LinalgEigBackward0", outputs="eigenvalues, eigenvectors", self="eig_backward(grads, self.dtype(), eigenvalues, eigenvectors)")
def linalg_eig_op(self):
    check_square_float(self, "linalg.eig")
    require(np.isfinite(self).all(), "torch.linalg.eig: input tensor should not contain infs or NaNs.")
    kind = np.result_type(self.dtype, np.complex64)
    values, vectors = np.linalg.eig(self)
    return values.astype(kind), by_columns(vectors.astype(kind))


@op("LinalgCholeskyExBackward0", outputs="L, info", differentiable="L", self="cholesky_backward(grad, upper, L)")
def linalg_cholesky_ex_op(self, upper=False, check_errors=False):
    L, info = choleskied(self, "linalg.cholesky", upper)
    if check_errors:
        refuse_failures("linalg.cholesky_ex", info, NOT_POSITIVE)
    return L, info


def choleskied(array, name, upper):
    check_square_float(array, name)

    def one(matrix):
        if not matrix.size:
            return matrix, np.int32(0)
        factor, info = lapack("potrf", matrix)(matrix.T.conj() if upper else matrix, lower=True, clean=True)
        return factor.conj().T if upper else factor, np.int32(info)

    factor, info = over_batch(one, array)
    return by_columns(factor), info.astype(np.int32)


@op("CholeskyBackward0", self="cholesky_backward(grad, upper, result)")
def cholesky_op(self, upper=False):
    factor, info = choleskied(self, "cholesky", upper)
    refuse_failures("cholesky", info, NOT_POSITIVE)
    return factor


@op("LinalgQrBackward0", outputs="Q, R", A="qr_backward(grads, Q, R, mode)")
def linalg_qr_op(A, mode="reduced"):
    check_matrix(A, "linalg.qr")
    check_float(A, "linalg.qr")
    known = mode in ("reduced", "complete", "r")
    require(known, f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    if mode == "r":
        return np.empty(0, A.dtype), by_columns(np.linalg.qr(A, "r"))
    return tuple(map(by_columns, np.linalg.qr(A, mode)))


@op(
    "LinalgLuFactorExBackward0",
    outputs="LU, pivots, info",
    differentiable="LU",
    A="lu_factor_ex_backward(grad, LU, pivots, pivot)",
)
def linalg_lu_factor_ex_op(A, pivot=True, check_errors=False):
    check_factored(A, "torch.lu_factor", pivot)
    LU, pivots, info = over_batch(factorized, A)
    return by_columns(LU), pivots.astype(np.int32), info.astype(np.int32)


@op("LinalgLuBackward0", outputs="P, L, U", differentiable="L, U", A="lu_backward(grads[0], grads[1], P, L, U, pivot)")
def linalg_lu_op(A, pivot=True):
    check_factored(A, "linalg.lu", pivot)
    LU, pivots, _ = over_batch(factorized, A)
    P = permutation_matrices(pivots, A.shape[-2], A.dtype)
    return P, np.ascontiguousarray(lower(LU)), np.ascontiguousarray(upper(LU))


@op(
    "LuUnpackBackward0",
    outputs="P, L, U",
    differentiable="L, U",
    LU_data="lu_unpack_backward(grads[0], grads[1], LU_data.sym_argsize_minus_2(), LU_data.sym_argsize_minus_1())",
)
def lu_unpack_op(LU_data, LU_pivots: Array, unpack_data=True, unpack_pivots=True):
    require(LU_pivots.dtype == np.int32, "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.")
    none = np.empty(0, LU_data.dtype)
    P = permutation_matrices(LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else none
    return (P, lower(LU_data), upper(LU_data)) if unpack_data else (P, none, none)


# ---- solvers


@op("LinalgInvExBackward0", outputs="inverse, info", differentiable="inverse", A="inverse_backward(grad, inverse)")
def linalg_inv_ex_op(A, check_errors=False):
    check_square_float(A, "linalg.inv")
    inverse, info = over_batch(inverted, A)
    if check_errors:
        refuse_failures("linalg.inv_ex", info, SINGULAR)
    return by_columns(inverse), info.astype(np.int32)


def inverted(matrix):
    lu, pivots, info = factorized(matrix)
    if info or not matrix.size:
        with np.errstate(all="ignore"):
            return solve_factorized(lu, pivots, np.eye(len(matrix), dtype=matrix.dtype)) if matrix.size else matrix, info
    return np.linalg.inv(matrix), info


def solve_factorized(lu, pivots, right, adjoint=False):
    """The solution of A X = B (or A^H X = B), by substitution, whatever zeros the diagonal holds."""
    L, U, order = lower(lu), upper(lu), permutation(pivots, len(lu))
    if not adjoint:
        return substituted(U, substituted(L, right[order], False, True), True, False)
    found = substituted(L.conj().T, substituted(U.conj().T, right, False, False), True, True)
    out = np.empty_like(found)
    out[order] = found
    return out


def substituted(matrix, right, is_upper, unit):
    """The solution of a triangular system; the LAPACK routine is not asked about singular ones."""
    if not matrix.size or not right.size:
        return np.zeros((matrix.shape[-1], right.shape[-1]), right.dtype)
    diagonal = np.diagonal(matrix)
    if unit or (diagonal != 0).all():
        return lapack("trtrs", matrix, right)(matrix, right, lower=not is_upper, unitdiag=unit)[0]
    x = right.copy()
    for i in range(len(matrix))[:: -1 if is_upper else 1]:
        x[i] = x[i] / matrix[i, i]
        rest = slice(0, i) if is_upper else slice(i + 1, None)
        x[rest] -= np.outer(matrix[rest, i], x[i])
    return x


@op(
    "LinalgSolveExBackward0",
    {"A, B": "solve_backward(grad, result, A, LU, pivots, left, grad_input_mask)"},
    outputs="result, LU, pivots, info",
    differentiable="result",
)
def linalg_solve_ex_op(A, B, left=True, check_errors=False):
    check_square_float(A, "linalg.solve")
    mixed = "linalg.solve: Expected A and B to have the same dtype, but found A of type {} and B of type {} instead"
    require(A.dtype == B.dtype, mixed, of=(A, B))
    vector = is_vector(A, B)
    right = B[..., None] if vector else B
    check_system(A, right, left)
    batch = np.broadcast_shapes(A.shape[:-2], right.shape[:-2])
    LU, pivots, info = over_batch(factorized, A)
    matrices, right = np.broadcast_to(A, batch + A.shape[-2:]), np.broadcast_to(right, batch + right.shape[-2:])
    (found,) = over_batch(lambda a, b: (solved(a, b, left),), matrices, right)
    if check_errors and info.any():
        place = f"(Batch element {np.flatnonzero(info)[0]}): " if info.ndim else ""
        raise LinAlgError(f"torch.linalg.solve_ex: {place}The solver failed because the input matrix is singular.")
    result = found[..., 0] if vector else by_columns(found) if left else np.ascontiguousarray(found)
    return result, by_columns(LU), pivots.astype(np.int32), info.astype(np.int32)


def solved(matrix, right, left):
    if not left:
        return solved(matrix.T, right.T, True).T
    lu, pivots, info = factorized(matrix)
    with np.errstate(all="ignore"):
        return solve_factorized(lu, pivots, right) if info or not right.size else np.linalg.solve(matrix, right)


def is_vector(A, B):
    """Whether the right side is a batch of vectors: PyTorch's rule."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])


def check_system(A, right, left, name="linalg.solve"):
    size, given = A.shape[-1], right.shape[-2 if left else -1]
    if size != given:
        equation = "AX = B" if left else "XA = B"
        shapes = f"({A.shape[-2]}x{A.shape[-1]} and {right.shape[-2]}x{right.shape[-1]})"
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} {shapes}")


@op(
    "LinalgSolveTriangularBackward0",
    {"self, B": "solve_triangular_backward(grad, self, result, upper, left, unitriangular, grad_input_mask)"},
)
def linalg_solve_triangular_op(self, B, upper, left=True, unitriangular=False):
    name = "linalg.solve_triangular"
    check_square(self, name)
    check_matrix(B, name, "B")
    check_system(self, B, left, name)
    batch = np.broadcast_shapes(self.shape[:-2], B.shape[:-2])
    matrices, right = np.broadcast_to(self, batch + self.shape[-2:]), np.broadcast_to(B, batch + B.shape[-2:])
    if left:
        solve = lambda a, b: (substituted(a, b, upper, unitriangular),)
    else:
        solve = lambda a, b: (substituted(a.T, b.T, not upper, unitriangular).T,)
    (found,) = over_batch(solve, matrices, right)
    return by_columns(found)


@op(
    "LinalgLuSolveBackward0",
    LU="lu_solve_LU_backward(grad, LU, pivots, result, left, adjoint)",
    B="linalg_lu_solve_op(LU, pivots, grad, left, not adjoint)",
)
def linalg_lu_solve_op(LU, pivots: Array, B, left=True, adjoint=False):
    check_square(LU, "torch.linalg.lu_solve")
    check_system(LU, B, left, "linalg.lu_solve")
    require(pivots.dtype == np.int32, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    batch = np.broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    matrices, right = np.broadcast_to(LU, batch + LU.shape[-2:]), np.broadcast_to(B, batch + B.shape[-2:])
    swaps = np.broadcast_to(pivots, batch + pivots.shape[-1:])[..., None]
    one = lambda lu, p, b: (
        solve_factorized(lu, p[:, 0], b, adjoint) if left else solve_factorized(lu, p[:, 0], b.conj().T, not adjoint).conj().T
    )
    (found,) = over_batch(lambda lu, p, b: (one(lu, p, b),), matrices, swaps, right)
    return by_columns(found) if left else np.ascontiguousarray(found)


@op("CholeskySolveBackward0", {"self, input2": "cholesky_solve_backward(grad, self, input2, result, upper, grad_input_mask)"})
def cholesky_solve_op(self, input2, upper=False):
    require(self.ndim >= 2, f"b should have at least 2 dimensions, but has {self.ndim} dimensions instead")
    require(input2.ndim >= 2, f"u should have at least 2 dimensions, but has {input2.ndim} dimensions instead")
    batch = np.broadcast_shapes(self.shape[:-2], input2.shape[:-2])
    right, factors = np.broadcast_to(self, batch + self.shape[-2:]), np.broadcast_to(input2, batch + input2.shape[-2:])

    def one(b, factor):
        low = np.triu(factor).conj().T if upper else np.tril(factor)
        return (substituted(low.conj().T, substituted(low, b, False, False), True, False),)

    return by_columns(over_batch(one, right, factors)[0])


@op("CholeskyInverseBackward0", self="cholesky_inverse_backward(grad, self, upper, result)")
def cholesky_inverse(self, upper=False):
    check_square(self, "cholesky_inverse")
    low = np.triu(self).conj().swapaxes(-1, -2) if upper else np.tril(self)
    return by_columns(np.linalg.inv(low @ low.conj().swapaxes(-1, -2)))


@op(
    "TriangularSolveBackward0",
    {"self, A": "triangular_solve_backward(grads, self, A, solution, upper, transpose, unitriangular, grad_input_mask)"},
    outputs="solution, cloned_coefficient",
)
def triangular_solve_op(self, A, upper=True, transpose=False, unitriangular=False):
    batch = np.broadcast_shapes(self.shape[:-2], A.shape[:-2])
    right, matrices = np.broadcast_to(self, batch + self.shape[-2:]), np.broadcast_to(A, batch + A.shape[-2:])
    one = lambda b, a: (substituted(a.conj().T if transpose else a, b, upper != transpose, unitriangular),)
    return by_columns(over_batch(one, right, matrices)[0]), by_columns(matrices.copy())


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@op(
    "LinalgLstsqBackward0",
    {"self, b": "lstsq_backward(grads, self, b, solution, grad_input_mask)"},
    outputs="solution, residuals, rank, singular_values",
    differentiable="solution, residuals",
)
def linalg_lstsq_op(self, b, rcond=None, driver=None):
    driver = driver or "gelsy"
    rows, columns = self.shape[-2:]
    vector = is_vector(self, b) if self.ndim - 1 == b.ndim else False
    right = b[..., None] if vector else b
    batch = np.broadcast_shapes(self.shape[:-2], right.shape[:-2])
    matrices, right = np.broadcast_to(self, batch + self.shape[-2:]), np.broadcast_to(right, batch + right.shape[-2:])
    limit = max(rows, columns) * np.finfo(self.dtype).eps if rcond is None else rcond

    (found,) = over_batch(lambda a, y: (np.linalg.lstsq(a, y, limit)[0],), matrices, right)
    values = np.linalg.svd(self, compute_uv=False)
    rank = np.asarray((values > limit * values.max(-1, keepdims=True, initial=0)).sum(-1))
    residuals = np.empty(0, values.dtype)
    if rows > columns and driver != "gelsy" and (rank == columns).all():
        residuals = (np.abs(right - matrices @ found) ** 2).sum(-2)
    found = found[..., 0] if vector else by_columns(found)
    empty = np.empty(0, values.dtype)
    return found, residuals, rank if driver != "gels" else np.empty(0, np.int64), values if driver in ("gelsd", "gelss") else empty


# ---- determinants


def is_turned(A):
    """Whether LU is that of A^T, which has the same determinant: PyTorch saves a copy for matrices that lie row by row."""
    return A.flags.c_contiguous and A.dtype.kind != "c"


def by_layout(A):
    return A.swapaxes(-1, -2) if is_turned(A) else A


@op(
    "LinalgDetBackward0",
    outputs="result, LU, pivots",
    differentiable="result",
    A="det_backward(grad, result, A, LU, pivots)",
)
def linalg_det_op(A):
    check_square_float(A, "linalg.det")
    LU, pivots, _ = over_batch(factorized, by_layout(A))
    result = np.diagonal(LU, 0, -2, -1).prod(-1) * det_sign(pivots)
    return np.asarray(result, A.dtype), by_columns(LU), pivots.astype(np.int32)


@op(
    "LinalgSlogdetBackward0",
    outputs="sign, logabsdet, LU, pivots",
    differentiable="sign, logabsdet",
    A="slogdet_backward(grads[0], grads[1], A, sign, LU, pivots)",
)
def linalg_slogdet_op(A):
    check_square_float(A, "linalg.slogdet")
    LU, pivots, _ = over_batch(factorized, by_layout(A))
    diagonal = np.diagonal(LU, 0, -2, -1)
    sign = np.sign(diagonal).prod(-1) * det_sign(pivots)
    with np.errstate(divide="ignore"):
        logarithm = np.log(np.abs(diagonal)).sum(-1)
    return np.asarray(sign, A.dtype), np.asarray(logarithm), by_columns(LU), pivots.astype(np.int32)


# ---- functions of matrices


@op("LinalgMatrixExpBackward0", self="matrix_exp_backward(self, grad)")
def linalg_matrix_exp_op(self):
    check_square(self, "linalg.matrix_exp")
    check_float(self, "linalg.matrix_exp", low=False)
    from scipy.linalg import expm

    return expm(self).astype(self.dtype) if self.size else self.copy()


@op("LinalgPinvBackward0", self="pinv_backward(grad, result, self)")
def linalg_pinv_op(self, atol: Maybe = None, rtol: Maybe = None, hermitian=False):
    kind = SCALARS[self.dtype.name]
    if self.ndim < 2 or self.dtype.kind not in "fc":
        raise RuntimeError(
            f"linalg.pinv({kind}{{{list(self.shape)}}}): "
            "expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    if not self.size:
        return np.zeros((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    if not np.isfinite(self).all():
        raise LinAlgError(NOT_FINITE)
    U, S, Vh = np.linalg.svd(self, full_matrices=False, hermitian=hermitian)
    kept = S > cutoff(S.max(-1, keepdims=True), atol, rtol, self)
    inverse = np.divide(1, S, out=np.zeros_like(S), where=kept)
    return np.ascontiguousarray((Vh.conj().swapaxes(-1, -2) * inverse[..., None, :]) @ U.conj().swapaxes(-1, -2))


def cutoff(largest, atol, rtol, matrix):
    """Below what a singular value counts as zero."""
    absolute = np.asarray(0.0 if atol is None else atol)
    usual = max(matrix.shape[-2:]) * np.finfo(matrix.dtype).eps
    relative = np.asarray(rtol if rtol is not None else np.where(absolute > 0, 0.0, usual))
    return np.maximum(absolute[..., None], relative[..., None] * largest)


# ---- Householder reflectors


def reflected(reflectors, tau, target):
    """H_1 H_2 … H_k times a matrix; H_i = I - tau_i v_i v_i^H, v_i below the diagonal of column i."""
    for i in range(len(tau))[::-1]:
        v = reflectors[:, i].copy()
        v[:i], v[i] = 0, 1
        target = target - tau[i] * np.outer(v, v.conj() @ target)
    return target


@op("LinalgHouseholderProductBackward0", {"input, tau": "householder_product_backward(grad, result, input, tau)"})
def linalg_householder_product(input, tau):
    name = "torch.linalg.householder_product"
    check_matrix(input, name, "input")
    rows, columns = input.shape[-2:]
    require(rows >= columns, f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    require(columns >= tau.shape[-1], f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    one = lambda a, t: (reflected(a, t[:, 0], np.eye(rows, columns, dtype=a.dtype)),)
    return by_columns(over_batch(one, input, tau[..., None])[0])


@op("OrmqrBackward0", {"self, input2, input3": "ormqr_backward(grad, result, self, input2, input3, left, transpose, grad_input_mask)"})
def ormqr_op(self, input2, input3, left=True, transpose=False):
    def one(a, tau, c):
        full = reflected(a, tau[:, 0], np.eye(len(a), dtype=a.dtype))
        full = full.conj().T if transpose else full
        return (full @ c if left else c @ full,)

    return by_columns(over_batch(one, self, input2[..., None], input3)[0])


@op("GeqrfBackward0", outputs="a, tau", self="not_implemented('geqrf')")
def geqrf_op(self):
    def one(matrix):
        reflectors, tau, *_ = lapack("geqrf", matrix)(matrix)
        return reflectors, tau

    factors, tau = over_batch(one, self)
    return by_columns(factors), tau


@op("LinalgCrossBackward0", self="linalg_cross_op(conj(other), grad, dim)", other="linalg_cross_op(grad, conj(self), dim)")
def linalg_cross_op(self, other, dim=-1):
    x, y = np.broadcast_arrays(self, other)
    return np.ascontiguousarray(np.cross(x, y, axis=dim))


def bunch_kaufman(matrix):
    """L D L^T in one matrix, with LAPACK's pivots."""
    if not matrix.size:
        return matrix.copy(), np.zeros(0, np.int32), np.int32(0)
    factor, pivots, info = lapack("sytrf", matrix)(matrix, lower=True)
    pivots = np.where(pivots < 0, pivots, pivots + 1) if (pivots == 0).any() else pivots
    return np.tril(factor), pivots.astype(np.int32), np.int32(info)


def solve_symmetric(factor, pivots, right):
    return lapack("sytrs", factor, right)(factor, pivots, right, lower=True)[0]
