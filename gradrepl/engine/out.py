"""`out=`: putting a result into a tensor the caller gave. Imports views, modes and promotion."""

from gradrepl.engine.advice import warn
from gradrepl.engine.modes import here
from gradrepl.engine.promotion import cast_error, castable
from gradrepl.engine.views import written

NO_GRADIENTS = "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output shape {}. This "
    "behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. You can "
    "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0). (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/Resize.cpp:30.)"
)


def into(out, result, name):
    """Store a result, or each of several results, in `out`, and give `out` back."""
    if isinstance(result, tuple):
        return type(result)([into(o, r, name) for o, r in zip(out, result, strict=True)])
    if here.grad and (result.needs_grad or out.needs_grad):
        raise RuntimeError(NO_GRADIENTS.format(name))
    store(out, result.array)
    return out


def store(out, array):
    target = out.array
    if not castable(array.dtype, target.dtype):
        raise cast_error(array.dtype, target.dtype)
    if target.shape != array.shape:
        if target.size:
            warn(RESIZED.format(list(target.shape), list(array.shape)))
        out.array = array.astype(target.dtype)
    else:
        target[...] = array
    written(out)
