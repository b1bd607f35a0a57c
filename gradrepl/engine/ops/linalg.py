"""Linear algebra as users see it: torch.linalg and the older names, on the declared decompositions and solvers."""

import math

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.dims import broadcast, require, wrap_dim
from gradrepl.engine.dtypes import DTYPES
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.modes import here
from gradrepl.engine.ops import decompositions as basic
from gradrepl.engine.ops.comparison import where_tensors
from gradrepl.engine.ops.decompositions import (
    NOT_POSITIVE,
    SINGULAR,
    LinAlgError,
    check_float,
    check_matrix,
    check_square,
    refuse_failures,
)
from gradrepl.engine.ops.joining import cat
from gradrepl.engine.ops.norms import vector_norm
from gradrepl.engine.ops.products import matmul, mm, vdot
from gradrepl.engine.ops.shapes import adjoint, movedim, narrow, permute_dims, reshape_to, squeeze_dim, unsqueeze, view_sizes
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.returns import named
from gradrepl.engine.tensor import Tensor, tensor_of, underlying

SOURCE = "BatchLinearAlgebra.cpp"


def records(*tensors):
    """Whether what is made of these tensors will have a gradient: then more is computed, for the derivative."""
    return here.grad and any(x.needs_grad for x in tensors)


def to_complex(tensor):
    return tensor if tensor.array.dtype.kind == "c" else tensor.to(COMPLEX[tensor.array.dtype.name])


COMPLEX = {"float32": DTYPES["complex64"], "float64": DTYPES["complex128"]}

# ---- determinants


def det(A):
    return basic.linalg_det_op(A)[0]


def slogdet_pair(A):
    return basic.linalg_slogdet_op(A)[:2]


def linalg_slogdet(A):
    return named("linalg_slogdet", slogdet_pair(A))


def slogdet(input):
    return named("slogdet", slogdet_pair(input))


def logdet(self):
    sign, logarithm = slogdet_pair(self)
    if self.array.dtype.kind == "c":
        return sign.log() + logarithm
    minus_one = tensor_of(sign.array == -1)
    return where_tensors(minus_one, tensor_of(np.asarray(math.nan, logarithm.array.dtype)), logarithm)


def product_without(values):
    """For every element of the last dim, the product of the others: zeros do no harm."""
    count = values.array.shape[-1]
    parts = []
    for i in range(count):
        others = [j for j in range(count) if j != i]
        picked = values.index_select(-1, tensor_of(np.asarray(others, np.int64)))
        parts.append(picked.prod(-1, True))
    return cat(parts, -1)


# ---- inverses and systems


def inv(A):
    inverse, info = basic.linalg_inv_ex_op(A)
    refuse_failures("linalg.inv", underlying(info), SINGULAR)
    return inverse


def inv_ex(A, *, check_errors=False):
    return named("linalg_inv_ex", basic.linalg_inv_ex_op(A, check_errors))


def solved(A, B, left, check_errors):
    result, _, _, info = basic.linalg_solve_ex_op(A, B, left, check_errors)
    return result, info


def linalg_solve(A, B, *, left=True):
    result, info = solved(A, B, left, False)
    failures = underlying(info)
    if failures.any():
        place = f"(Batch element {np.flatnonzero(failures)[0]}): " if failures.ndim else ""
        raise LinAlgError(f"torch.linalg.solve: {place}The solver failed because the input matrix is singular.")
    return result


def solve_ex(A, B, *, left=True, check_errors=False):
    return named("linalg_solve_ex", solved(A, B, left, check_errors))


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    return basic.linalg_solve_triangular_op(A, B, upper, left, unitriangular)


OLD_TRIANGULAR = (
    "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future PyTorch release.\n"
    "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
    "X = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B)."
)


def triangular_solve(self, A, upper=True, transpose=False, unitriangular=False):
    warn_once(OLD_TRIANGULAR, f"{SOURCE}:2273")
    return named("triangular_solve", basic.triangular_solve_op(self, A, upper, transpose, unitriangular))


def lstsq(input, b, *, rcond=None, driver=None):
    name = "torch.linalg.lstsq"
    require(input.array.ndim >= 2, f"{name}: input must have at least 2 dimensions.")
    require(b.array.ndim >= 1, f"{name}: other must have at least 1 dimension.")
    require(driver is None or driver in basic.DRIVERS, f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = input.array.ndim - 1 == b.array.ndim
    rows, other = input.array.shape[-2], b.array.shape[-1 if vector else -2]
    require(rows == other, f"{name}: input.size(-2) should match other.size(-{1 if vector else 2})")
    mixed = ": Expected input and other to have the same dtype, but got input's dtype {} and other's dtype {}"
    require(input.array.dtype == b.array.dtype, name + mixed, of=(input.array, b.array))
    return named("linalg_lstsq", basic.linalg_lstsq_op(input, b, rcond, driver))


def cholesky_solve(self, input2, upper=False):
    mixed = "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead."
    require(self.array.dtype == input2.array.dtype, mixed, of=(self.array, input2.array))
    b, A = self.array.shape[-2:], input2.array.shape[-2:]
    if len(b) == 2 == len(A):
        require(A[0] == A[1], f"A must be batches of square matrices, but they are {A[0]} by {A[1]} matrices")
        mismatch = "Incompatible matrix sizes for cholesky_solve: each A matrix is {} by {} but each b matrix is {} by {}"
        require(A[0] == b[0], mismatch.format(*A, *b))
    return basic.cholesky_solve_op(self, input2, upper)


# ---- decompositions


def linalg_cholesky(A, *, upper=False):
    L, info = basic.linalg_cholesky_ex_op(A, upper)
    refuse_failures("linalg.cholesky", underlying(info), NOT_POSITIVE)
    return L


def cholesky_ex(A, *, upper=False, check_errors=False):
    return named("linalg_cholesky_ex", basic.linalg_cholesky_ex_op(A, upper, check_errors))


OLD_CHOLESKY = (
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.\n"
    "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\n"
    "should be replaced with\nU = torch.linalg.cholesky(A).mH\n"
    "This transform will produce equivalent results for all valid (symmetric positive definite) inputs."
)


def cholesky(self, upper=False):
    warn_once(OLD_CHOLESKY, f"{SOURCE}:1765")
    return basic.cholesky_op(self, upper)


def qr_pair(name):
    def call(A, mode="reduced"):
        return named(name, basic.linalg_qr_op(A, mode))

    return call


linalg_qr = qr_pair("linalg_qr")
OLD_QR = (
    "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
    "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
    "Q, R = torch.qr(A, some)\nshould be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
)


def qr(self, some=True):
    warn_once(OLD_QR, f"{SOURCE}:2505")
    return named("qr", basic.linalg_qr_op(self, "reduced" if some else "complete"))


def linalg_svd(A, full_matrices=True, *, driver=None):
    require(driver is None, "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")
    return named("linalg_svd", basic.linalg_svd_op(A, full_matrices))


def svdvals(A, *, driver=None):
    return basic.linalg_svd_op(A, False, records(A))[1]


def svd(self, some=True, compute_uv=True):
    if not compute_uv:
        values = basic.linalg_svd_op(self, False, False)[1]
        batch, (m, n) = self.array.shape[:-2], self.array.shape[-2:]
        zeros = lambda size: tensor_of(np.zeros((*batch, size, size), self.array.dtype))
        return named("svd", (zeros(m), values, zeros(n)))
    U, S, Vh = basic.linalg_svd_op(self, not some)
    return named("svd", (U, S, adjoint(Vh)))


def linalg_eigh(A, UPLO="L"):
    return named("linalg_eigh", basic.linalg_eigh_op(A, UPLO))


def eigvalsh(A, UPLO="L"):
    return basic.linalg_eigh_op(A, UPLO, records(A))[0]


def linalg_eig(A):
    return named("linalg_eig", basic.linalg_eig_op(A))


def eigvals(A):
    require(A.array.dtype.kind in "fc", "Unknown Complex ScalarType for {}", of=(A.array,))
    return basic.linalg_eig_op(A)[0]


def lu_factor(A, *, pivot=True):
    LU, pivots, info = basic.linalg_lu_factor_ex_op(A, pivot)
    text = (
        "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, "
        "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
    )
    refuse_failures("torch.linalg.lu_factor", underlying(info), text)
    return named("linalg_lu_factor", (LU, pivots))


def lu_factor_ex(A, *, pivot=True, check_errors=False):
    return named("linalg_lu_factor_ex", basic.linalg_lu_factor_ex_op(A, pivot, check_errors))


def linalg_lu(A, *, pivot=True):
    return named("linalg_lu", basic.linalg_lu_op(A, pivot))


OLD_LU = (
    "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed "
    "in a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
    "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\nLU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\n"
    "should be replaced with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
)


def lu(A, pivot=True, get_infos=False):
    warn_once(OLD_LU, f"{SOURCE}:2073")
    LU, pivots, info = basic.linalg_lu_factor_ex_op(A, pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    return named("lu_unpack", basic.lu_unpack_op(LU_data, LU_pivots, unpack_data, unpack_pivots))


def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    return basic.linalg_lu_solve_op(LU, pivots, B, left, adjoint)


OLD_LU_SOLVE = (
    "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch release.\n"
    "Note that torch.linalg.lu_solve has its arguments reversed.\n"
    "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)"
)


def lu_solve(self, LU_data, LU_pivots):
    warn_once(OLD_LU_SOLVE, f"{SOURCE}:2220")
    return basic.linalg_lu_solve_op(LU_data, LU_pivots, self)


def geqrf(input):
    return named("geqrf", basic.geqrf_op(input))


def ormqr(self, input2, input3, left=True, transpose=False):
    return basic.ormqr_op(self, input2, input3, left, transpose)


cholesky_inverse, householder_product = basic.cholesky_inverse, basic.linalg_householder_product
orgqr = householder_product


def ldl_factor(A, *, hermitian=False):
    LD, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    text = "The factorization could not be completed because the input is singular (the block of order {} is zero)."
    refuse_failures("torch.linalg.ldl_factor", underlying(info), text)
    return named("linalg_ldl_factor", (LD, pivots))


def ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    check_square(A.array, "torch.linalg.ldl_factor_ex")
    check_float(A.array, "torch.linalg.ldl_factor_ex")
    LD, pivots, info = basic.over_batch(basic.bunch_kaufman, A.array)
    results = [tensor_of(basic.by_columns(LD)), tensor_of(pivots.astype(np.int32)), tensor_of(info.astype(np.int32))]
    without_derivative("linalg_ldl_factor_ex", results[0], A)
    return named("linalg_ldl_factor_ex", results)


def ldl_solve(LD, pivots, B, *, hermitian=False):
    one = lambda factor, p, right: (basic.solve_symmetric(factor, p[:, 0], right),)
    (found,) = basic.over_batch(one, LD.array, pivots.array[..., None], B.array)
    return without_derivative("linalg_ldl_solve", tensor_of(basic.by_columns(found)), LD, B)


# ---- norms


def check_norm(name, A, dim):
    require(A.array.ndim >= 2, f"{name}: The input tensor A must have at least 2 dimensions.")
    check_float(A.array, name, low=False)
    require(len(dim) == 2, f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = (wrap_dim(d, A.array.ndim) for d in dim)
    require(first != second, f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return first, second


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    name = "linalg.matrix_norm"
    first, second = check_norm(name, A, tuple(dim))
    if isinstance(ord, str):
        require(ord in ("fro", "nuc"), f"{name}: Order {ord} not supported.")
        if ord == "fro":
            return vector_norm(A, 2, (first, second), keepdim, dtype=dtype)
    elif abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"{name}: Order {ord:g} not supported.")
    A = A if dtype is None else A.to(dtype)
    if ord in ("nuc", 2, -2):
        return singular_norm(A, ord, first, second, keepdim)
    along, over = (first, second) if abs(ord) == 1 else (second, first)
    if not keepdim and along < over:
        over -= 1
    return furthest(vector_norm(A, 1, along, keepdim), ord, over, keepdim)


def furthest(values, ord, dim, keepdim):
    """The largest of the values, or the smallest for a negative order; zero is the largest of none."""
    if not values.array.shape[dim] and ord > 0:
        return values.sum(dim, keepdim).detach()
    return values.amax(dim, keepdim) if ord > 0 else values.amin(dim, keepdim)


def singular_norm(A, ord, first, second, keepdim):
    """From the singular values: their sum, the largest, or the smallest."""
    rest = [d for d in range(A.array.ndim) if d not in (first, second)]
    values = svdvals(permute_dims(A, (*rest, first, second)))
    if ord == "nuc":
        result = values.sum(-1, keepdim)
    else:
        result = furthest(values, ord, -1, keepdim)
    if not keepdim:
        return result
    order = [*rest, first, second]
    return permute_dims(unsqueeze(result, -1), tuple(order.index(d) for d in range(A.array.ndim)))


def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    ndim = A.array.ndim
    if dim is not None:
        dim = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
        require(len(dim) in (1, 2), f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    elif ord is not None:
        require(ndim in (1, 2), f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D.")
    if isinstance(ord, str):
        return matrix_norm(A, ord, dim or (-2, -1), keepdim, dtype=dtype)
    if ord is not None and (len(dim) == 2 if dim else ndim == 2):
        return matrix_norm(A, ord, dim or (-2, -1), keepdim, dtype=dtype)
    return vector_norm(A, 2.0 if ord is None else ord, dim, keepdim, dtype=dtype)


def cond(A, p=None):
    named = f"(ord={p}): The input tensor A" if isinstance(p, str) else ": The input tensor"
    require(A.array.ndim >= 2, f"linalg.cond{named} must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        values = svdvals(A)
        largest, smallest = narrow(values, -1, 0, 1), narrow(values, -1, -1, 1)
        return squeeze_dim(smallest / largest if p == -2 else largest / smallest, -1)
    if not isinstance(p, str):
        require(abs(p) in (1, math.inf), f"linalg.cond got an invalid norm type: {p:g}")
    check_square(A.array, f"linalg.cond(ord={p})")
    require(p in ("fro", "nuc") or not isinstance(p, str), f"linalg.cond got an invalid norm type: {p}")
    if not A.array.size:
        return tensor_of(np.zeros(A.array.shape[:-2], A.array.real.dtype))
    return cond_by_inverse(A, p)


def cond_by_inverse(A, p):
    inverse, info = basic.linalg_inv_ex_op(A)
    inverse.masked_fill_(tensor_of((info.array > 0).reshape(*info.array.shape, 1, 1)), math.inf)  # in place, as in PyTorch: no gradient
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).nan_to_num_(math.inf, math.inf, -math.inf)


def as_array(value):
    return value.array if isinstance(value, Tensor) else value


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    check_matrix(A.array, "torch.linalg.matrix_rank", "input")
    atol = tol if tol is not None else atol
    if not A.array.size:
        return tensor_of(np.zeros(A.array.shape[:-2], np.int64))
    values = np.abs(np.linalg.eigvalsh(A.array)) if hermitian else np.linalg.svd(A.array, compute_uv=False)
    limit = basic.cutoff(values.max(-1, keepdims=True), as_array(atol), as_array(rtol if tol is None else 0.0), A.array)
    return tensor_of((values > limit).sum(-1))


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    limits = [
        None if x is None else x if isinstance(x, Tensor) else tensor_of(np.asarray(float(x)))
        for x in (atol, rtol if rcond is None else rcond)
    ]
    return basic.linalg_pinv_op(A, *limits, hermitian)


def pinverse(self, rcond=1e-15):
    return pinv(self, rcond)


def nuclear_norm(self, dim=(-2, -1), keepdim=False):
    return matrix_norm(self, "nuc", tuple(dim), keepdim)


# ---- products and functions of matrices


def matrix_exp(A):
    return basic.linalg_matrix_exp_op(A)


def matrix_power(A, n):
    if not hasattr(n, "__index__"):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    check_square(A.array, "linalg.matrix_power")
    if n == 0:
        return A.clone().copy_(tensor_of(np.eye(A.array.shape[-1], dtype=A.array.dtype)))
    A, n = (inv(A), -n) if n < 0 else (A, n)
    if n == 1:
        return A.clone()
    if n == 2:
        return matmul(A, A)
    if n == 3:
        return matmul(matmul(A, A), A)
    square, result = None, None
    while n:
        square = A if square is None else matmul(square, square)
        n, bit = divmod(n, 2)
        if bit:
            result = square if result is None else matmul(result, square)
    return result


def best_split(sizes):
    """Where to cut a chain of matrices, for every part of it: the classic dynamic programme."""
    count = len(sizes) - 1
    cost, cut = [[0] * count for _ in range(count)], [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = [cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)]
            cost[i][j] = min(costs)
            cut[i][j] = i + costs.index(cost[i][j])
    return cut


def multi_dot(tensors):
    tensors = list(tensors)
    count = len(tensors)
    require(count >= 2, f"multi_dot(): expected at least 2 tensors but got {count}")
    check_chain(tensors)
    shape = [*tensors[0].array.shape[:-1], *tensors[-1].array.shape[1:]]
    tensors[0] = unsqueeze(tensors[0], 0) if tensors[0].array.ndim == 1 else tensors[0]
    tensors[-1] = unsqueeze(tensors[-1], -1) if tensors[-1].array.ndim == 1 else tensors[-1]
    for i, (x, y) in enumerate(zip(tensors, tensors[1:])):
        if x.array.shape[1] != y.array.shape[0]:
            shapes = f"{list(x.array.shape)} and {list(y.array.shape)}"
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {shapes} cannot be multiplied")
    if count == 2:
        return view_sizes(mm(*tensors), tuple(shape))
    return view_sizes(chained(tensors), tuple(shape))


def check_chain(tensors):
    last = len(tensors) - 1
    for i, x in enumerate(tensors):
        ndim = x.array.ndim
        if i in (0, last):
            which = "first" if i == 0 else "last"
            require(ndim in (1, 2), f"multi_dot(): the {which} tensor must be 1D or 2D but got {ndim}D")
        else:
            require(ndim == 2, f"multi_dot(): tensor {i} must be 2D but got {ndim}D")
        require(
            x.array.dtype == tensors[0].array.dtype,
            "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
            f"{SCALARS[tensors[0].array.dtype.name]} and tensor {i} {SCALARS[x.array.dtype.name]}",
        )


def chained(tensors):
    sizes = [x.array.shape[0] for x in tensors] + [tensors[-1].array.shape[1]]
    if len(tensors) == 3:
        a, b, c = tensors
        first = sizes[0] * sizes[1] * sizes[2] + sizes[0] * sizes[2] * sizes[3]
        second = sizes[1] * sizes[2] * sizes[3] + sizes[0] * sizes[1] * sizes[3]
        return mm(a, mm(b, c)) if first > second else mm(mm(a, b), c)
    cut = best_split(sizes)

    def product(i, j):
        return tensors[i] if i == j else mm(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    return product(0, len(tensors) - 1)


OLD_CHAIN = (
    "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, which accepts a "
    "list of two or more tensors rather than multiple parameters."
)


def chain_matmul(*matrices):
    warn_once(OLD_CHAIN, "LinearAlgebra.cpp:1102")
    for x in matrices:
        require(x.array.ndim == 2, f"Tensor dimension is {x.array.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0].clone()
    return multi_dot(matrices)


def linalg_cross(self, other, *, dim=-1):
    x, y = self.array, other.array
    require(x.ndim == y.ndim, "linalg.cross: inputs must have the same number of dimensions.")
    require(x.ndim, f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    at = wrap_dim(dim, x.ndim)
    if x.shape[at] != 3 or y.shape[at] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[at]} and {y.shape[at]}")
    broadcast(x.shape, y.shape)
    return basic.linalg_cross_op(self, other, dim)


OLD_CROSS = (
    "Using torch.cross without specifying the dim arg is deprecated.\n"
    "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
    "The default value of dim will change to agree with that of linalg.cross in a future release."
)


def cross(self, other, dim=None):
    if dim is None:
        warn_once(OLD_CROSS, "Cross.cpp:63")
        dim = next((i for i, n in enumerate(self.array.shape) if n == 3), None)
        require(dim is not None, "no dimension of size 3 in input")
    return linalg_cross(self, other, dim=dim)


def vecdot(x, y, *, dim=-1):
    if x.array.ndim == 1 == y.array.ndim:
        return vdot(x, y)
    return (x.conj() * y if x.array.dtype.kind == "c" else x * y).sum(dim)


def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return A.diagonal(offset, dim1, dim2)


def linalg_vander(x, *, N=None):
    """Powers of the last dim, the lowest first."""
    kind = x.array.dtype
    x = unsqueeze(x, -1) if not x.array.ndim else x
    count = x.array.shape[-1] if N is None else N
    require(count > 1, "N must be greater than 1.")
    ones = tensor_of(np.ones((*x.array.shape, 1), np.int64 if kind.kind in "biu" else kind))
    powers = unsqueeze(x, -1).expand(*x.array.shape, count - 1).cumprod(-1)
    return cat([ones, powers], -1)


def tensorinv(A, ind=2):
    require(ind > 0, "Expected a strictly positive integer for 'ind'")
    shape = A.array.shape
    first, second = shape[ind:], shape[:ind]
    if math.prod(first) != math.prod(second):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {math.prod(first)} != {math.prod(second)}"
        )
    inverse = inv(reshape_to(A, (math.prod(first), math.prod(first))))
    return reshape_to(inverse, (*first, *second))


def tensorsolve(A, B, dims=None):
    ndim = A.array.ndim
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(ndim - len(dims), ndim)))
    rest = A.array.shape[B.array.ndim :]
    size = math.prod(rest)
    if size != math.prod(A.array.shape[: B.array.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
            f"{size} != {math.prod(A.array.shape[: B.array.ndim])}"
        )
    return reshape_to(linalg_solve(reshape_to(A, (size, size)), B.flatten()), rest)


def linalg_matmul(A, B):
    return matmul(A, B)


def removed(text):
    def call(*args, **kwargs):
        raise RuntimeError("This function was deprecated since version 1.9 and is now removed." + text)

    return call


REMOVED = dict(
    lstsq=" `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.",
    solve=" `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments reversed and does not "
    "return the LU factorization.",
    eig=" `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking complex tensors.",
    symeig=" The default behavior has changed from using the upper triangular portion of the matrix by default to using the lower "
    "triangular portion.",
)
old_lstsq, old_solve, old_eig, old_symeig = (removed(text) for text in REMOVED.values())
old_matrix_rank = removed("")

publish(
    globals(),
    both="""det slogdet logdet inverse:inv cholesky cholesky_solve cholesky_inverse qr svd lu_solve geqrf ormqr
        orgqr pinverse matrix_exp matrix_power cross triangular_solve lstsq:old_lstsq solve:old_solve eig:old_eig
        symeig:old_symeig""",
    functions="lu lu_unpack chain_matmul nuclear_norm matrix_rank:old_matrix_rank",
    methods="lu",
)
