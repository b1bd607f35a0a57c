"""How products are batched: as products of one dimension more, which `matmul` knows how to take. Imports rules."""

from gradrepl.engine.batching.dispatch import moved
from gradrepl.engine.batching.rules import rule
from gradrepl.engine.batching.shapes import ordered
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.products import bmm, check_batches, check_dot, check_matrices, check_vector, matmul, mm, mv
from gradrepl.engine.ops.shapes import squeeze_dim, t, unsqueeze


@rule("dot vdot")
def dots(call, self, other):
    check_dot(self.array, other.array)
    first = NAMES["conj_view"](self) if call.name == "vdot" and self.array.dtype.kind == "c" else self
    if not (call.holds(first) and call.holds(other)):
        return call.wrap(matmul(call.front(first), t(call.front(other))))
    product = matmul(unsqueeze(call.front(first), -2), unsqueeze(call.front(other), -1))
    return call.wrap(squeeze_dim(squeeze_dim(product, -1), -1))


@rule("mv")
def matrix_vector(call, self, vec):
    check_vector(self.array, vec.array, vec.array, 1)
    if not call.holds(vec):
        return call.wrap(matmul(call.front(self), vec))
    if not call.holds(self):
        return call.wrap(matmul(self, moved(vec.value, vec.bdim, 1)), 1)
    return call.wrap(squeeze_dim(matmul(ordered(call, self), unsqueeze(call.front(vec), -1)), -1))


@rule("mm")
def matrices(call, self, mat2):
    if self.array.ndim != 2 or mat2.array.ndim != 2:
        check_matrices(self.array, mat2.array)
    return call.wrap(matmul(call.front(self), call.front(mat2)))


@rule("bmm")
def batches(call, self, mat2):
    check_batches(self.array, mat2.array)
    return call.wrap(matmul(call.front(self), call.front(mat2)))


# op -> the product that is added to `self`
SUMS = dict(addmm_op=mm, baddbmm_op=bmm, addmv_op=mv, addbmm_op=lambda x, y: NAMES["sum_dim"](bmm(x, y), (0,)))


@rule(*SUMS)
def added(call, self, first, second, beta=1, alpha=1):
    """beta * self + alpha * the product, in these steps."""
    product = SUMS[call.name](first, second)
    return NAMES["add"](NAMES["mul_scalar"](self, beta), product, alpha)


@rule("addr_op")
def outer_added(call, self, vec1, vec2, beta=1, alpha=1):
    full = NAMES["expand_sizes"](self, (vec1.array.size, vec2.array.size))
    product = NAMES["mul"](NAMES["view_sizes"](vec1, (vec1.array.size, 1)), vec2)
    return NAMES["add"](NAMES["mul"](full, number(beta, full)), NAMES["mul"](product, number(alpha, product)))


def number(value, like):
    return NAMES["tensor_of"](NAMES["np"].array(value, like.array.dtype))
