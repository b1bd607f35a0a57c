"""Products of vectors, matrices and batches of them: declarations, and PyTorch's way of building matmul from them."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.dims import broadcast, require, wrap_dim
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.ops.pointwise import mul
from gradrepl.engine.ops.shapes import (
    expand_array,
    expand_sizes,
    flatten,
    permute_dims,
    reshape_to,
    squeeze_,
    squeeze_dim,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
)
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor

ONE = 1  # the scale that is not given
FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
LARGE, FEW = 1 << 17, range(3, 65)  # elements, rows
SMALL = 4096  # elements of the result: below, NumPy's `dot` takes half the time of `matmul` (0.5 us less); above, it loses by filling with
# zeros first (64x10 by 10x256: 13 us, matmul 10.5)


def scalar(array):
    return SCALARS[array.dtype.name]


def few_rows(x, y):
    """Whether few rows meet a matrix that lies transposed in memory, as in a layer: BLAS is up to twice as fast the other way round.

    Single precision only: 16x1024 by 1024x1024 takes 500 us, not 980; 64x784 by 784x256 235, not 270.
    """
    return x.ndim == 2 == y.ndim and x.dtype is FLOAT and x.shape[0] in FEW and y.strides[0] < y.strides[1] and y.flags.f_contiguous


def turned_product(x, y):
    return np.ascontiguousarray(np.matmul(y.T, x.T).T)


def product(x, y):
    """x @ y in x's dtype; half precision is summed in float32, as PyTorch does."""
    if x.dtype is FLOAT or x.dtype is DOUBLE:
        if y.ndim < 3 and len(x) * y.shape[-1] < SMALL:
            return x.dot(y)
        return turned_product(x, y) if y.size >= LARGE and few_rows(x, y) else np.matmul(x, y)
    if x.dtype.kind == "b":
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    if x.dtype.itemsize == 2 and x.dtype.kind == "f":
        return np.matmul(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    return np.matmul(x, y)


def mixed(self, update, beta, alpha):
    """beta * self + alpha * update; a beta of 0 ignores even the NaNs of self."""
    if self.dtype.kind not in "fc":
        for name, value in (("beta", beta), ("alpha", alpha)):
            require(not isinstance(value, float), f"For integral input tensors, argument {name} must not be a floating point number.")
    scaled = update if alpha == 1 else np.multiply(update, alpha, dtype=update.dtype)
    base = expand_array(self, update.shape)
    if beta == 0:
        return scaled
    return np.add(base if beta == 1 else np.multiply(base, beta, dtype=self.dtype), scaled, dtype=update.dtype)


def check_matrices(mat1, mat2, first="self"):
    if mat1.ndim != 2 or mat2.ndim != 2:
        require(mat1.ndim == 2, f"{first} must be a matrix")
        require(mat2.ndim == 2, "mat2 must be a matrix")
    if mat1.shape[1] != mat2.shape[0]:
        rows, columns = (f"{n}x{m}" for n, m in (mat1.shape, mat2.shape))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows} and {columns})")
    if mat1.dtype is not mat2.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {SCALAR_TYPES[mat1.dtype.name]} != {SCALAR_TYPES[mat2.dtype.name]}"
        )


def check_batches(batch1, batch2):
    require(batch1.ndim == 3, "batch1 must be a 3D tensor")
    require(batch2.ndim == 3, "batch2 must be a 3D tensor")
    if batch2.shape[:2] != (batch1.shape[0], batch1.shape[2]):
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch1.shape[0]}, {batch1.shape[2]}] but got: "
            f"[{batch2.shape[0]}, {batch2.shape[1]}]."
        )
    require(batch1.dtype == batch2.dtype, "expected scalar type {} but found {}", of=(batch1, batch2))


@op(
    "MmBackward0",
    self="mm_mat1_backward(grad, mat2, self.sym_sizes(), self.sym_strides(), 1)",
    mat2="mm_mat2_backward(grad, self, mat2.sym_sizes(), mat2.sym_strides(), 1)",
)
def mm(self, mat2):
    if not (self.ndim == 2 == mat2.ndim and self.dtype is mat2.dtype):
        check_matrices(self, mat2)
    try:
        return product(self, mat2)
    except ValueError:
        check_matrices(self, mat2)
        raise


@op(
    "AddmmBackward0",
    self="maybe_multiply(grad, beta)",
    mat1="mm_mat1_backward(grad, mat2, mat1.sym_sizes(), mat1.sym_strides(), alpha)",
    mat2="mm_mat2_backward(grad, mat1, mat2.sym_sizes(), mat2.sym_strides(), alpha)",
)
def addmm_op(self, mat1, mat2, beta=1, alpha=1):
    if self.dtype is not mat2.dtype or mat1.dtype is not mat2.dtype:
        require(self.dtype == mat2.dtype, "self and mat2 must have the same dtype, but got {} and {}", of=(self, mat2))
        require(mat1.dtype == mat2.dtype, "mat1 and mat2 must have the same dtype, but got {} and {}", of=(mat1, mat2))
    check_matrices(mat1, mat2, "mat1")
    result = product(mat1, mat2)
    if beta is ONE is alpha and self.ndim == 1 and self.size == result.shape[1]:
        return np.add(result, self, result)
    return mixed(self, result, beta, alpha)


@op("BmmBackward0", self="grad.bmm(conj(mat2.transpose(1, 2)))", mat2="conj(self.transpose(1, 2)).bmm(grad)")
def bmm(self, mat2):
    check_batches(self, mat2)
    return product(self, mat2)


SIZES = "batch1.sym_argsize_0, batch1.sym_argsize_1, batch2.sym_argsize_2"
BATCH1 = "maybe_multiply({}.bmm(conj(batch2.transpose(1, 2))), alpha)"
BATCH2 = "maybe_multiply(conj(batch1.transpose(1, 2)).bmm({}), alpha)"


def size_of(array, dim):
    """The size along a dim, or PyTorch's error."""
    require(array.ndim, f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    return array.shape[wrap_dim(dim, array.ndim)]


@op(
    "BaddbmmBackward0",
    self="maybe_multiply(grad, beta)",
    batch1=BATCH1.format("grad"),
    batch2=BATCH2.format("grad"),
)
def baddbmm_op(self, batch1, batch2, beta=1, alpha=1):
    expand_array(self, (size_of(batch1, 0), size_of(batch1, 1), size_of(batch2, 2)))
    check_batches(batch1, batch2)
    same = "Input dtypes must be the same, got: input: {}, batch1: {}, batch2: {}"
    require(self.dtype == batch1.dtype, same, of=(self, batch1, batch2))
    return mixed(self, product(batch1, batch2), beta, alpha)


@op(
    "AddbmmBackward0",
    self="maybe_multiply(grad, beta)",
    batch1=BATCH1.format(f"spread_batch(grad, {SIZES})"),
    batch2=BATCH2.format(f"spread_batch(grad, {SIZES})"),
)
def addbmm_op(self, batch1, batch2, beta=1, alpha=1):
    expand_array(self, (size_of(batch1, 1), size_of(batch2, 2)))
    check_batches(batch1, batch2)
    require(self.dtype == batch2.dtype, "self and mat2 must have the same dtype, but got {} and {}", of=(self, batch2))
    return mixed(self, product(batch1, batch2).sum(0, dtype=batch1.dtype), beta, alpha)


@op("MvBackward0", self="grad.ger(conj(vec))", vec="conj(self).t().mv(grad)")
def mv(self, vec):
    check_vector(self, vec, vec, 1)
    return product(self, vec)


def check_vector(mat, vec, input, input_ndim):
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input_ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({mat.shape[0]}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})")
    if mat.dtype != vec.dtype or input.dtype != vec.dtype:
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {scalar(input)}, {scalar(mat)}, and {scalar(vec)}")


@op(
    "AddmvBackward0",
    self="maybe_multiply(grad, beta)",
    mat="maybe_multiply(grad.ger(conj(vec)), alpha)",
    vec="maybe_multiply(conj(mat.t()).mv(grad), alpha)",
)
def addmv_op(self, mat, vec, beta=1, alpha=1):
    check_vector(mat, vec, self, self.ndim)
    if self.ndim and self.shape[0] not in (1, mat.shape[0]):
        raise RuntimeError(f"size mismatch, got input ({self.shape[0]}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})")
    return mixed(self, product(mat, vec), beta, alpha)


def check_dot(self, other):
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    require(self.dtype == other.dtype, "dot : expected both vectors to have same dtype, but found {} and {}", of=(self, other))
    if self.shape != other.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.size}] and src [{other.size}] to have the same number of elements, "
            f"but got {self.size} and {other.size} elements respectively"
        )
    if self.dtype.kind == "b":
        raise NotImplementedError("\"dot\" not implemented for 'Bool'")


@op("DotBackward0", self="grad * conj(tensor)", tensor="grad * conj(self)")
def dot(self, tensor):
    check_dot(self, tensor)
    return product(self, tensor)


@op("VdotBackward0", self="conj(grad) * other", other="grad * self")
def vdot(self, other):
    check_dot(self, other)
    return np.vdot(self, other)


@op(
    "AddrBackward0",
    self="maybe_multiply(grad, beta)",
    vec1="maybe_multiply(grad.mv(conj(vec2)), alpha)",
    vec2="maybe_multiply(grad.t().mv(conj(vec1)), alpha)",
)
def addr_op(self, vec1, vec2, beta=1, alpha=1):
    require(vec1.ndim == 1, f"addr: Expected 1-D argument vec1, but got {vec1.ndim}-D")
    require(vec2.ndim == 1, f"addr: Expected 1-D argument vec2, but got {vec2.ndim}-D")
    return mixed(expand_array(self, (vec1.size, vec2.size)), np.multiply.outer(vec1, vec2), beta, alpha)


def with_scales(operation):
    """The public spelling of an op with `beta` and `alpha`."""

    def call(self, first, second, *, beta=1, alpha=1):
        return operation(self, first, second, beta, alpha)

    call.__name__ = operation.__name__.removesuffix("_op")
    return call


addmm, baddbmm, addbmm, addmv, addr = map(with_scales, (addmm_op, baddbmm_op, addbmm_op, addmv_op, addr_op))


def written_by(operation):
    """The in-place spelling of an op with `beta` and `alpha`."""

    def write(self, first, second, *, beta=1, alpha=1):
        return operation.declaration.functions["_"](self, first, second, beta, alpha)

    return write


addmm_, baddbmm_, addbmm_, addmv_, addr_ = map(written_by, (addmm_op, baddbmm_op, addbmm_op, addmv_op, addr_op))


def outer(self, vec2):
    require(self.array.ndim == 1, f"outer: Expected 1-D argument self, but got {self.array.ndim}-D")
    require(vec2.array.ndim == 1, f"outer: Expected 1-D argument vec2, but got {vec2.array.ndim}-D")
    return mul(reshape_to(self, (self.array.size, 1)), vec2)


def matmul(self, other, name="matmul"):
    """Choose mm, mv, dot or bmm, with the views around them that PyTorch records."""
    x, y = self.array, other.array
    if x.ndim == 2 == y.ndim:
        return mm(self, other)
    if not x.ndim or not y.ndim:
        raise RuntimeError(f"both arguments to {name} need to be at least 1D, but they are {x.ndim}D and {y.ndim}D")
    if x.ndim == 1 == y.ndim:
        return dot(self, other)
    if x.ndim == 2 and y.ndim == 1:
        return mv(self, other)
    if x.ndim == 1 and y.ndim == 2:
        return squeeze_(mm(unsqueeze(self, 0), other), 0)
    return folded(self, other) if folds(self, other) else batched(self, other)


def folds(self, other):
    """Whether the batch is folded into the rows: PyTorch's own rule, for node names depend on it."""
    big, small = (self, other) if self.array.ndim >= other.array.ndim else (other, self)
    if not (big.array.ndim >= 3 and small.array.ndim <= 2):
        return False
    if small.requires_grad:
        return True
    if self.array.ndim == 2:
        return False
    shape, strides = big.array.shape, big.array.strides
    return 0 in shape or all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(big.array.ndim - 2))


def folded(self, other):
    """(…, n, m) @ (m, p) as one product of (… n, m) and (m, p)."""
    swapped = self.array.ndim < other.array.ndim
    big = mT(other) if swapped else self
    small = (t(self) if self.array.ndim == 2 else self) if swapped else other
    shape = big.array.shape
    rows = reshape_to(big, (int(np.prod(shape[:-1])), shape[-1]))
    if small.array.ndim == 1:
        return unsafe_view(mv(rows, small), shape[:-1])
    result = unsafe_view(mm(rows, small), (*shape[:-1], small.array.shape[1]))
    return mT(result).contiguous() if swapped else result


def batched(self, other):
    x, y = self.array, other.array
    n = x.shape[-2] if x.ndim > 1 else 1
    vector = y.ndim == 1
    if x.ndim == 3 == y.ndim and x.shape[0] != y.shape[0]:
        if x.shape[0] == 1 and self.requires_grad:
            return matmul(squeeze_dim(self, 0), other)
        if y.shape[0] == 1 and other.requires_grad:
            return matmul(self, squeeze_dim(other, 0))
    batch = broadcast(x.shape[:-2], y.shape[:-2])
    count = int(np.prod(batch))
    left = reshape_to(expand_sizes(self, (*batch, n, x.shape[-1])), (count, n, x.shape[-1]))
    if vector:
        right = unsqueeze(reshape_to(expand_sizes(other, (*batch, y.shape[0])), (count, y.shape[0])), 2)
        return unsafe_view(squeeze_dim(bmm(left, right), -1), (*batch, n))
    right = reshape_to(expand_sizes(other, (*batch, *y.shape[-2:])), (count, *y.shape[-2:]))
    return unsafe_view(bmm(left, right), (*batch, *((n,) if x.ndim > 1 else ()), y.shape[-1]))


def mT(tensor):
    return transpose(tensor, -2, -1)


def matmul_operator(self, other):
    if not isinstance(other, Tensor):
        return NotImplemented
    return mm(self, other) if self.array.ndim == 2 == other.array.ndim else matmul(self, other)


def rmatmul_operator(self, other):
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


def inner(self, other):
    if not self.array.ndim or not other.array.ndim:
        return mul(self, other)
    if self.array.shape[-1] != other.array.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.array.shape)} and {list(other.array.shape)}"
        )
    return tensordot(self, other, dims=([-1], [-1]))


def dims_of(dims, a, b):
    """The two lists of dims that tensordot contracts."""
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.array.ndim else int(dims)
    if isinstance(dims, (tuple, list)):
        first, second = dims
        return [first] if isinstance(first, int) else list(first), [second] if isinstance(second, int) else list(second)
    require(dims >= 0, f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a.array.ndim, b.array.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


def tensordot(a, b, dims=2):
    first, second = dims_of(dims, a, b)
    require(len(first) == len(second), "both dimension lists should have same length")
    require(a.array.dtype == b.array.dtype, "both inputs should have same dtype")
    contracted = 1
    for i, j in zip(first, second):
        for x, dim in ((a, i), (b, j)):
            require(x.array.ndim, f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
        n, m = a.array.shape[wrap_dim(i, a.array.ndim)], b.array.shape[wrap_dim(j, b.array.ndim)]
        if m == 1:
            a = a.sum(i, True)
        elif n == 1:
            b = b.sum(j, True)
        elif n != m:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {n} in dim {i} and second has size {m} in dim {j}")
        contracted *= a.array.shape[i]
    return contract(a, b, [i % max(a.array.ndim, 1) for i in first], [j % max(b.array.ndim, 1) for j in second], contracted)


def contract(a, b, first, second, contracted):
    rest_a = [i for i in range(a.array.ndim) if i not in first]
    rest_b = [i for i in range(b.array.ndim) if i not in second]
    size_a, size_b = [a.array.shape[i] for i in rest_a], [b.array.shape[i] for i in rest_b]
    if set(size_a + size_b) <= {1}:
        left, right = flatten(permute_dims(a, (*rest_a, *first))), flatten(permute_dims(b, (*second, *rest_b)))
        return reshape_to(dot(left, right), (*size_a, *size_b))
    left = reshape_to(permute_dims(a, (*rest_a, *first)), (int(np.prod(size_a)), contracted))
    right = reshape_to(permute_dims(b, (*second, *rest_b)), (contracted, int(np.prod(size_b))))
    return reshape_to(mm(left, right), (*size_a, *size_b))


publish(
    globals(),
    both="mm bmm mv dot vdot outer ger:outer matmul addmm baddbmm addbmm addmv addr inner",
    functions="tensordot addmv_",
    methods="addmm_ baddbmm_ addbmm_ addmv_ addr_ __matmul__:matmul_operator __rmatmul__:rmatmul_operator",
)
