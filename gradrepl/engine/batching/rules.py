"""How ops are batched: pointwise ones, and those whose dimensions only move up by one. A row of the table is a name. Imports dispatch.

Which ops PyTorch takes apart on the way, and so which nodes stand in the graph of what is wrapped, is part of the rules.
"""

from inspect import signature

from gradrepl.engine.batching.dispatch import RULES
from gradrepl.engine.declare import DECLARED
from gradrepl.engine.dims import ALL
from gradrepl.engine.names import NAMES
from gradrepl.engine.promotion import result_dtype
from gradrepl.engine.tensor import Tensor


def rule(*names):
    """Decorate the rule of these ops."""

    def add(function):
        RULES.update(dict.fromkeys(" ".join(names).split(), function))
        return function

    return add


# ---- element by element

UNARY = """
    add_scalar sub_scalar rsub_scalar mul_scalar div_scalar remainder_scalar fmod_scalar pow_scalar neg clone fill_scalar
    fill zero to_copy copysign_scalar relu threshold elu celu elu_written celu_written gelu silu mish softplus hardtanh hardsigmoid
    hardswish leaky_relu leaky_relu_written softshrink hardshrink gt_scalar ge_scalar lt_scalar le_scalar eq_scalar ne_scalar
    logical_not logical_not_like bitwise_not conj_view conj_physical_of conj_physical_written angle clamp_numbers clamp_min_number
    clamp_max_number erf erfc erfinv erfcx lgamma digamma polygamma_of mvlgamma abs exp exp2 expm1 log log2 log10 log1p sqrt rsqrt
    reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh asinh_written acosh_written atanh_written sigmoid sign sgn
    floor ceil trunc round_whole round_decimals frac deg2rad rad2deg nan_to_num logit sinc frexp_parts alias_of log_sigmoid_forward i0
    i1 i0e i1e entr ndtri log_ndtr fw_primal conj resolve_conj resolve_neg
    xlogy_self_number xlogy_other_number xlog1py_self_number xlog1py_other_number zeta_self_number zeta_other_number
"""
PAIRS = """
    pow_number add sub rsub_tensor mul div div_mode floor_divided remainder_tensor fmod_tensor pow_tensor atan2 hypot logaddexp logaddexp2
    copysign_tensor nextafter ldexp lerp_scalar lerp_tensor addcmul addcdiv heaviside_forward gcd lcm elu_backward
    gelu_backward softplus_backward log_sigmoid_backward hardtanh_backward hardsigmoid_slope hardswish_backward leaky_relu_backward
    softshrink_backward hardshrink_backward prelu_kernel_backward gt gt_tensor ge ge_tensor lt lt_tensor le le_tensor eq eq_tensor ne
    ne_tensor logical_and_arrays logical_or_arrays logical_xor_arrays bitwise_and_arrays bitwise_or_arrays bitwise_xor_arrays lshift_arrays
    rshift_arrays where_tensors masked_fill_number complex polar maximum minimum fmax fmin clamp_tensors clamp_min_tensor clamp_max_tensor
    tanh_backward sigmoid_backward prelu_kernel igamma igammac xlogy_tensors xlog1py_tensors zeta_tensors copy
"""


STAYING = set(UNARY.split())  # the batch stays where it is


@rule(UNARY, PAIRS)
def pointwise(call, *args):
    """Batches first, ranks brought to the same."""
    tensors = [x for x in args if isinstance(x, Tensor)]
    ranks = {x.array.ndim for x in tensors}
    bdims = {call.bdim(x) for x in tensors}
    if call.in_place:
        check_room(call, args[0], tensors)
    if len(bdims) == len(ranks) == 1:
        (bdim,) = bdims if call.name in STAYING or call.in_place else (0,)
        given = [call.value(x) if bdim else call.front(x) for x in args]
        return call.wrap(call.function(*given), bdim)
    rank = max(ranks)
    aligned = [call.padded(x, rank) if isinstance(x, Tensor) else x for x in promoted(call, args)]
    return call.wrap(call.function(*aligned))


@rule("threshold_backward")
def as_large(call, grad_output, self, threshold):
    """The op works on its arrays as they are."""
    return call.wrap(call.function(call.full(grad_output), call.full(self), threshold))


PROMOTED = dict(where_tensors=("self", "other"))  # by the op itself


def promoted(call, args):
    """A 0-d example counts less than others in promotion; with the batch it would not, so it is brought to the result's dtype before."""
    pair = [
        x
        for name, x in zip(parameters(call), args, strict=True)
        if name in PROMOTED.get(call.name, DECLARED[call.name].promote.split(", "))
    ]
    if len(pair) < 2 or pair[0].array.dtype == pair[1].array.dtype or pair[0].array.ndim and pair[1].array.ndim:
        return args
    dtype = result_dtype([x.array for x in pair])
    mended = [NAMES["to_copy"](x, dtype) if not x.array.ndim and x.array.dtype != dtype else x for x in pair]
    return [next((new for old, new in zip(pair, mended, strict=True) if x is old), x) for x in args]


def check_room(call, target, tensors):
    """What is written may not be smaller than what comes out."""
    rank = max(x.array.ndim for x in tensors)
    if target.array.ndim < rank:
        shape = NAMES["np"].broadcast_shapes(*[x.array.shape for x in tensors])
        full = [call.size, *(1,) * (rank - target.array.ndim), *target.array.shape]
        raise RuntimeError(f"output with shape {full} doesn't match the broadcast shape {[call.size, *shape]}")


# ---- a dimension more

# what is done to a parameter of this name: a dimension, several of them (None or none at all stands for all), or the sizes of an example
KINDS = dict(dict.fromkeys("dim dim0 dim1 dim2 dimension dims".split(), "dims"), size="sizes", input_sizes="sizes", sizes="sizes")
SHAPED = """
    select_at select_backward slice_dim slice_backward view_sizes reshape_alias unsafe_view transpose squeeze_dims diagonal
    diagonal_backward unbind split_equal unsafe_split_equal split_sizes_op
    unsafe_split_sizes_op flip_dims tril triu narrow_copy_op glu glu_backward constant_pad
    linalg_cross_op fft_c2c fft_r2c fft_c2r unsafe_split cdist_forward euclidean_dist cdist_backward
    linalg_svd_op linalg_eigh_op linalg_eig_op linalg_cholesky_ex_op cholesky_op linalg_qr_op linalg_lu_factor_ex_op linalg_lu_op
    lu_unpack_op linalg_inv_ex_op linalg_solve_ex_op linalg_solve_triangular_op linalg_lu_solve_op cholesky_solve_op cholesky_inverse
    triangular_solve_op linalg_det_op linalg_slogdet_op linalg_matrix_exp_op linalg_pinv_op linalg_householder_product ormqr_op geqrf_op
    transpose_copied slice_dim_copied select_at_copied view_sizes_copied unbind_copied split_equal_copied split_sizes_op_copied
    squeeze_dims_copied
"""
ALONG = """
    _safe_softmax softmax_dim log_softmax_dim cumsum_dim cumprod_dim cummax_dim cummin_dim logcumsumexp_dim sort_op sort_by topk_op
    softmax_backward_data log_softmax_backward_data gather_op scatter_src scatter_value scatter_add scatter_reduce_op scatter_with
"""
REDUCING = """
    sum_dim nansum_dim mean_dim prod_dim max_dim min_dim amax_dims amin_dims logsumexp_dims norm_dims linalg_vector_norm
    var_correction std_correction var_mean_correction std_mean_correction median_dim nanmedian_dim mode_dim kthvalue_op
    all any count_nonzero
"""
WHOLE = dict(sum_all="sum_dim", mean_all="mean_dim")  # over everything: along all dimensions of the example
FLAT = dict(max_all="max_dim", min_all="min_dim", prod_all="prod_dim", median_all="median_dim", nanmedian_all="nanmedian_dim")


def shifted(call, args, rank, kinds=KINDS):
    """The other arguments of an op, as they are where the batch comes first."""
    return [to_front(call, kinds.get(name), value, rank) for name, value in zip(parameters(call), args)]


def parameters(call):
    """The names of an op's parameters, or of a public function's."""
    declaration = getattr(call.function, "declaration", None) or (call.function.__kwdefaults__ or {}).get("declaration")
    return list(declaration.parameters if declaration else signature(call.function).parameters)


def to_front(call, kind, value, rank):
    if kind == "dims":
        return up(value, rank)
    if kind == "sizes":
        return (call.size, *value)
    return call.full(value) if isinstance(value, Tensor) else value


def up(dim, rank):
    """A dimension of an example, or several, counted with the batch in front."""
    if isinstance(dim, (tuple, list)):
        return tuple([up(d, rank) for d in dim])
    if dim is None:
        return None
    if not -max(rank, 1) <= dim < max(rank, 1):
        span = max(rank, 1)
        raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})")
    return dim + 1 if dim >= 0 else dim + max(rank, 1) + 1


@rule(SHAPED)
def moved_up(call, self, *args):
    given = dict(zip(parameters(call), (self, *args), strict=False))
    rank = len(given["input_sizes"]) if "input_sizes" in given else self.array.ndim
    return call.wrap(call.function(*shifted(call, (self, *args), rank)))


@rule(ALONG)
def along(call, *args):
    """The same, where a number may be taken for a vector of one element."""
    tensors = [x for x in args if isinstance(x, Tensor)]
    rank = max(x.array.ndim for x in tensors)
    if rank:
        return call.wrap(call.function(*shifted(call, args, rank)))
    lifted = [NAMES["unsqueeze"](call.full(x), -1) if isinstance(x, Tensor) else x for x in args]
    found = call.function(*[x if isinstance(x, Tensor) else to_front(call, KINDS.get(p), x, 1) for p, x in zip(parameters(call), lifted)])
    return call.wrap(lowered(found))


def lowered(found):
    """Results without the dimension that was added."""
    if isinstance(found, tuple):
        return tuple([lowered(x) for x in found])
    return NAMES["squeeze_dim"](found, -1)


@rule(REDUCING)
def reducing(call, self, *args, **named):
    value, rank = call.front(self), self.array.ndim
    if not rank:
        value, rank = NAMES["unsqueeze"](value, -1), 1
    given = dict(zip(parameters(call)[1:], args)) | named
    dim = given.get("dim")
    given["dim"] = tuple(range(1, rank + 1)) if dim is None or dim == () or dim is ALL else up(dim, rank)
    return call.wrap(call.function(value, **given))


@rule("argmax argmin")
def place(call, self, dim=None, keepdim=False):
    if dim is not None:
        return reducing(call, self, dim, keepdim)
    found = call.function(call.front(self).reshape(call.size, -1), 1)
    return call.wrap(found.reshape(call.size, *(1,) * self.array.ndim) if keepdim else found)


@rule(*WHOLE)
def whole(call, self, dtype=None):
    return NAMES[WHOLE[call.name]](self, tuple(range(self.array.ndim)), False, dtype)


@rule(*FLAT)
def flattened(call, self, *args):
    """Over everything: the example as a vector."""
    value = call.front(self)
    if self.array.ndim != 1:
        value = NAMES["view_sizes"](value, (call.size, self.array.size)) if contiguous(value) else value.reshape(call.size, -1)
    found = NAMES[FLAT[call.name]](value, 1, False, *args)
    return call.wrap(found[0] if isinstance(found, tuple) else found)


def contiguous(value):
    return value.array.flags.c_contiguous


@rule("fill_tensor")
def fill(call, self, value):
    """A number for each example is copied; one for all fills them."""
    front = call.front(self)
    if call.holds(value):
        return NAMES["copy_"](front, call.padded(value, self.array.ndim))
    return call.function(front, value)


@rule("dist_of")
def dist(call, self, other, p):
    return NAMES["norm_dims"](NAMES["sub"](self, other), p, tuple(range(max(self.array.ndim, other.array.ndim))), False)


@rule("aminmax_dim")
def aminmax(call, self, dim=None, keepdim=False):
    if dim is not None:
        return reducing(call, self, dim, keepdim)
    value = call.front(self).reshape(call.size, -1)
    low, high = call.function(value, 1, False)
    return call.wrap((low, high))
