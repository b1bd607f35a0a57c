"""Affine and bilinear maps."""

import numpy as np

from gradrepl.engine.declare import op
from gradrepl.engine.messages import SCALAR_TYPES
from gradrepl.engine.ops.products import addmm_op, matmul
from gradrepl.engine.ops.shapes import t
from gradrepl.engine.promotion import SCALARS
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Batched


def linear(input, weight, bias=None):
    """y = x Aᵀ + b: one product of matrices, whatever the dimensions of x."""
    try:
        same = input.payload.dtype is weight.payload.dtype
    except Batched:
        if input.array.ndim == 1 and bias is not None:
            return matmul(input, weight.t()) + bias
        same = input.array.dtype is weight.array.dtype
    if not same and bias is not None and input.array.ndim:
        kinds = SCALARS[input.array.dtype.name], SCALARS[weight.array.dtype.name]
        raise RuntimeError("mat1 and mat2 must have the same dtype, but got {} and {}".format(*kinds))
    if weight.array.ndim == 2 and bias is not None and input.array.ndim == 2:
        return addmm_op(bias, input, t(weight))
    if weight.array.ndim == 2 and bias is not None and input.array.ndim > 0 and input.array.flags.c_contiguous:
        rows = input.view(-1, input.shape[-1])
        return addmm_op(bias, rows, t(weight)).view(*input.shape[:-1], weight.shape[0])
    product = matmul(input, t(weight) if weight.array.ndim == 2 else weight, "linear")
    return product if bias is None else product + bias


def laid_out(array, expand):
    for dim in expand:
        array = np.expand_dims(array, dim)
    return array


@op(
    "TrilinearBackward0",
    {"i1, i2, i3": "trilinear_backward(grad, i1, i2, i3, expand1, expand2, expand3, sumdim, grad_input_mask)"},
)
def _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1):
    """The product of three tensors, laid out by new dimensions, summed over `sumdim`."""
    parts = [laid_out(x, expand) for x, expand in ((i1, expand1), (i2, expand2), (i3, expand3))]
    letters = "abcdefgh"[: parts[0].ndim]
    terms = ["".join(c for c, n in zip(letters, part.shape) if n != 1) for part in parts]
    kept = "".join(c for i, c in enumerate(letters) if i not in sumdim and any(c in term for term in terms))
    out = np.einsum(f"{','.join(terms)}->{kept}", *[part.squeeze() for part in parts], optimize=True)
    sizes = np.broadcast_shapes(*[part.shape for part in parts])
    return out.reshape([n for i, n in enumerate(sizes) if i not in sumdim])


def bilinear(input1, input2, weight, bias=None):
    """y = x1ᵀ A x2 + b."""
    given = dict(input1=input1, input2=input2, weight=weight) | ({} if bias is None else dict(bias=bias))
    if len({x.array.dtype for x in given.values()}) > 1:
        found = ", ".join(f"{name}: {SCALAR_TYPES[x.array.dtype.name]}" for name, x in given.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {found}")
    if input1.array.ndim != input2.array.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.array.ndim} and {input2.array.ndim}")
    for name, input, place in (("input1", input1, 1), ("input2", input2, 2)):
        if input.shape[-1] != weight.shape[place]:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {input.shape[-1]} but expected {weight.shape[place]}"
            )
    flat1, flat2 = (x.reshape(-1, x.shape[-1]) for x in (input1, input2))
    out = _trilinear(flat1, weight, flat2, (1, 3), (0,), (1, 2), (2, 3))
    out = out.reshape(*input1.shape[:-1], weight.shape[0])
    return out if bias is None else out + bias


publish(globals(), functions="bilinear _trilinear")
