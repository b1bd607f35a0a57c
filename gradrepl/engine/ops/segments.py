"""torch.segment_reduce: reductions of the consecutive segments of one dim. Declarations, 2-5 lines each."""

import numpy as np

from gradrepl.engine.declare import Array, Maybe, formula, op
from gradrepl.engine.dims import require, wrap_dim
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.ops.scattering import first_value
from gradrepl.engine.public import publish

REDUCTIONS = dict(sum=np.add, mean=np.add, prod=np.multiply, max=np.maximum, min=np.minimum, amax=np.maximum, amin=np.minimum)


def bounds_of(lengths, offsets):
    """Where segments begin and end, for every line: (…, segments) each."""
    if lengths is not None:
        ends = np.cumsum(lengths, -1)
        return ends - lengths, ends
    return offsets[..., :-1], offsets[..., 1:]


def segments(lengths, offsets):
    """(place among the segments, the part of a line it stands for)."""
    starts, ends = bounds_of(lengths, offsets)
    for place in np.ndindex(starts.shape):
        yield place, (*place[:-1], slice(starts[place], ends[place]))


@op(
    "SegmentReduceBackward0",
    {"data": "segment_reduce_backward(grad, result, data, reduce, lengths, offsets, axis, initial)"},
)
def segment_reduce_op(data, reduce, lengths: Maybe = None, offsets: Maybe = None, axis=0, initial=None):
    starts, _ = bounds_of(lengths, offsets)
    out = np.empty((*starts.shape, *data.shape[axis + 1 :]), data.dtype)
    kind = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    for place, part in segments(lengths, offsets):
        values = data[part]
        start = first_value(kind, data.dtype) if initial is None else initial
        out[place] = REDUCTIONS[reduce].reduce(values, 0, initial=start) if len(values) or kind != "mean" or initial is not None else np.nan
        if kind == "mean" and len(values):
            out[place] /= len(values)
    return out


@formula
def segment_reduce_backward(grad, result, data, reduce, lengths, offsets, axis, initial):
    gradient = segment_gradient(grad, result, data, reduce, lengths, offsets, initial)
    return without_derivative("_segment_reduce_backward", gradient, grad, result, data)


@op()
def segment_gradient(grad_output: Array, result: Array, data: Array, reduce, lengths: Maybe, offsets: Maybe, initial):
    """Each segment's gradient, handed to its members: all of it, a share, or to those that reach the extreme."""
    out = np.zeros(data.shape, data.dtype)
    for place, part in segments(lengths, offsets):
        values, grad, found = data[part], grad_output[place], result[place]
        if not len(values):
            continue
        if reduce in ("max", "min", "amax", "amin"):
            reached = (values == found) | np.isnan(values)
            out[part] = np.where(reached, grad / np.maximum(reached.sum(0), 1), 0)
        elif reduce == "mean":
            out[part] = grad / len(values)
        elif reduce == "sum":
            out[part] = grad
        else:
            out[part] = grad * others_product(values, 1 if initial is None else initial)
    return out


def others_product(values, initial):
    """For each value the product of the others and of the initial value."""
    return np.stack([np.multiply.reduce(np.delete(values, i, 0), 0, initial=initial) for i in range(len(values))])


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    known = reduce in REDUCTIONS
    require(known, f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    require(data.array.size or lengths is not None or offsets is not None, "segment_reduce(): data must have elements")
    require(lengths is not None or offsets is not None, "segment_reduce(): Either lengths or offsets must be defined.")
    at = wrap_dim(axis, data.array.ndim)
    if lengths is not None and not unsafe:
        whole = (lengths.array.sum(-1) == data.array.shape[lengths.array.ndim - 1]).all()
        require((lengths.array >= 0).all(), "segment_reduce(): lengths contains negative value!")
        require(whole, "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.")
    return segment_reduce_op(data, reduce, lengths, offsets, at, initial)


publish(globals(), functions="segment_reduce _segment_reduce:segment_reduce")
