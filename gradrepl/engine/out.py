"""`out=`: putting a result into a tensor the caller gave. Imports views, modes, messages and promotion."""

from gradrepl.engine.advice import warn
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.modes import here
from gradrepl.engine.promotion import SCALARS, cast_error, castable
from gradrepl.engine.tensor import INFERENCE
from gradrepl.engine.views import BEFORE_WRITE, FROZEN, written

NO_GRADIENTS = "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output shape {}. This "
    "behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. You can "
    "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0). (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/Resize.cpp:30.)"
)


# functions that store only their own dtype, and the words of those that have words of their own
EXACT = set(
    """mm bmm addmm baddbmm addmv matmul gather scatter scatter_add scatter_reduce tril triu sort topk msort index_add index_copy
    det slogdet cholesky inverse inv qr svd geqrf orgqr ormqr lu_solve cholesky_inverse cholesky_solve inv_ex solve_ex solve_triangular
    cholesky_ex eigvalsh svdvals lu_factor lu_factor_ex householder_product matrix_power multi_dot tensorinv tensorsolve""".split()
)
OTHER_WORDS = {
    "index_select": "index_select(): self and result must have the same scalar type",
    "masked_select": "masked_select(): self and result must have the same scalar type",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {result} and out.dtype = {out}",
    "dot": "result dtype {out} does not match input dtype {result}",
    "vdot": "result dtype {out} does not match input dtype {result}",
    "mv": "addmv input tensors must have the same dtype, but got {out}, {result}, and {result}",
    "addbmm": "self and mat2 must have the same dtype, but got {out} and {result}",
}


def check_dtype(name, result, out):
    """PyTorch's refusals of an `out` of another dtype."""
    if result is out:
        return
    if name in OTHER_WORDS:
        raise RuntimeError(OTHER_WORDS[name].format(result=SCALARS[result.name], out=SCALARS[out.name]))
    if name in EXACT or name.startswith("linalg_"):
        raise RuntimeError(f"Expected out tensor to have dtype {SCALAR_TYPES[result.name]}, but got {SCALAR_TYPES[out.name]} instead")
    if not castable(result, out):
        if name in ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack"):
            raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {SCALARS[out.name]}")
        raise cast_error(result, out)


def into(out, result, name):
    """Store a result, or each of several results, in `out`, and give `out` back."""
    if isinstance(result, tuple):
        return type(result)([into(o, r, name) for o, r in zip(out, result, strict=True)])
    if here.level is not None and any([x.needs_grad and not x.requires_grad for x in (result, out)]):
        raise RuntimeError(f"Trying to use forward AD with {name} that does not support it because it is an out= function")
    if here.grad and (result.needs_grad or out.needs_grad):
        raise RuntimeError(NO_GRADIENTS.format(name))
    check_dtype(name, result.array.dtype, out.array.dtype)
    store(out, result.array)
    return out


def store(out, array):
    target = out.array
    if BEFORE_WRITE:
        BEFORE_WRITE[0](out)
    if out.counter is INFERENCE and not here.inference:
        raise RuntimeError(FROZEN)
    if target.shape != array.shape:
        if target.size:
            warn(RESIZED.format(list(target.shape), list(array.shape)))
        out.array = array.astype(target.dtype)
    else:
        target[...] = array
    written(out)
