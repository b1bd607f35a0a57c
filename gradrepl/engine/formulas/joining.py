"""Derivatives of joining and splitting. Everything here runs on tensors, so that it can be differentiated."""

import numpy as np

from gradrepl.engine.declare import formula
from gradrepl.engine.ops.joining import cat, stack, unbind
from gradrepl.engine.ops.shapes import narrow, slice_dim, squeeze_dim
from gradrepl.engine.tensor import tensor_of


def real_for(grad, dtype):
    """A real input gets the real part of a complex gradient."""
    return grad.real if dtype.kind != "c" and grad.array.dtype.kind == "c" else grad


def zeros_for(sizes, like):
    return tensor_of(np.zeros(sizes, like.array.dtype))


def filled(grads, sizes):
    """Zeros where an output got no gradient."""
    known = next(g for g in grads if g is not None)
    return [zeros_for(size, known) if g is None else g for g, size in zip(grads, sizes)]


@formula
def unbind_backward(grads, dim):
    known = next(g for g in grads if g is not None)
    return stack(filled(grads, [known.array.shape] * len(grads)), dim)


@formula
def split_backward(grads, split_size, dim, sizes):
    count = sizes[dim]
    return split_with_sizes_backward(grads, [min(split_size, count - i * split_size) for i in range(len(grads))], dim, sizes)


@formula
def split_with_sizes_backward(grads, split_sizes, dim, sizes):
    at = dim % len(sizes)
    return cat(filled(grads, [(*sizes[:at], n, *sizes[at + 1 :]) for n in split_sizes]), at)


@formula
def cat_tensors_backward(grad, sizes, dtypes, dim):
    """Each tensor's own part of the gradient; a skipped one, without elements, gets zeros."""
    answers, start = [], 0
    skipped = [size == (0,) for size in sizes]
    for size, dtype, skip in zip(sizes, dtypes, skipped):
        if skip:
            answers.append(zeros_for(size, grad))
            continue
        length = size[dim]
        answers.append(real_for(narrow(grad, dim, start, length), dtype))
        start += length
    return answers


@formula
def stack_tensors_backward(grad, dim, dtypes):
    return [real_for(g, dtype) for g, dtype in zip(unbind(grad, dim), dtypes)]


@formula
def block_diag_backward(grad, sizes, dtypes):
    answers, row, column = [], 0, 0
    for size, dtype in zip(sizes, dtypes):
        rows, columns = ((1, 1) + tuple(size))[-2:]
        part = slice_dim(slice_dim(grad, 0, row, row + rows, 1), 1, column, column + columns, 1)
        if len(size) == 1:
            part = squeeze_dim(part, 0)
        elif not size:
            part = squeeze_dim(squeeze_dim(part, -1), -1)
        answers.append(real_for(part, dtype))
        row, column = row + rows, column + columns
    return answers
