"""Single precision to the digit: functions rounded once, and sums in the order in which PyTorch's kernels add. Imports NumPy only.

NumPy's float32 functions are off by up to four units in the last place, PyTorch's by one at most: computed in double and rounded they are
the same but for one value in a hundred. PyTorch adds four running sums side by side, and vectors of sixteen where memory is contiguous.
"""

import numpy as np

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
LANES, WAYS, LEVELS = 8, 4, 4


def rounded(function):
    """`function` of arrays, computed in double precision where single is given."""

    def precise(x, *rest):
        return function(x, *rest) if x.dtype is not SINGLE else function(x, *rest, dtype=DOUBLE).astype(SINGLE)

    return precise


exp, exp2, expm1, log, log2, log10, log1p = map(rounded, (np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p))
sin, cos, tan, arcsin, arccos, arctan = map(rounded, (np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan))
sinh, cosh, tanh, arcsinh, arccosh, arctanh = map(rounded, (np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh))
sqrt, power, arctan2 = np.sqrt, rounded(np.power), rounded(np.arctan2)


def inverse(array):
    """1 / array. NumPy's reciprocal of a complex number is not that where a part is zero: 1 - 0j for 1, nan + nanj for 0."""
    return np.divide(1, array) if array.dtype.kind == "c" else np.reciprocal(array)


def total(array, axis=None, keepdims=False):
    """The sum over `axis` (None: everything; or a tuple) of a float32 array; of others as NumPy adds. The answer is never a view."""
    if array.dtype is not SINGLE or array.size <= WAYS or axis == ():
        return np.add.reduce(array, axis, keepdims=keepdims)
    if axis is None and not keepdims and array.flags.c_contiguous:
        return vector_rows(array.reshape(-1)) if array.size >= LANES else ways(array.reshape(-1))
    gone = range(array.ndim) if axis is None else axis
    order = sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))
    memory = array.transpose(order)
    blocks, status = coalesced(memory.shape, [d in gone for d in order])
    if True not in status or not memory.flags.c_contiguous:
        return np.add.reduce(array, axis, keepdims=keepdims)
    result = sum_of(memory.reshape(blocks), status)
    kept = [d for d in order if d not in gone]
    result = result.reshape([array.shape[d] for d in kept]).transpose(np.argsort(kept))
    return np.expand_dims(result, tuple(gone)) if keepdims else result


def coalesced(shape, gone):
    """Neighbouring dimensions that all stay or all go, taken together: their sizes, and which of them go."""
    sizes, status = [], []
    for n, goes in zip(shape, gone):
        if n == 1:
            continue
        if status and status[-1] == goes:
            sizes[-1] *= n
        else:
            sizes.append(n)
            status.append(goes)
    return sizes, status


def front(array, axis):
    """The array with a dimension moved to the front."""
    axis %= array.ndim
    return array.transpose(axis, *range(axis), *range(axis + 1, array.ndim)) if axis else array


def sum_of(array, gone):
    """Add up the dimensions of a contiguous array that go: the innermost in PyTorch's ways, those around it one after the other."""
    *outer, inner = [d for d, goes in enumerate(gone) if goes]
    if inner == array.ndim - 1:
        lines = np.moveaxis(array, outer, range(len(outer))) if outer else array
        sums = vector_rows(lines) if lines.shape[-1] >= LANES else ways(front(lines, -1))
    elif outer:
        sums = ways(np.moveaxis(array, (inner, *outer), range(len(outer) + 1)))
    else:
        return columns(front(array, inner))
    return in_turn(sums.reshape((-1, *sums.shape[len(outer) :]))) if outer else sums


def vector_rows(rows):
    """Contiguous lines: vectors of sixteen are added up first, then what is left over, then the sixteen."""
    length = rows.shape[-1]
    count, rest = length // LANES, length % LANES
    vectors = (rows[..., :-rest] if rest else rows).reshape((*rows.shape[:-1], count, LANES))
    lanes = front(ways(front(vectors, -2)), -1)
    return in_turn(np.concatenate([front(rows[..., -rest:], -1), lanes]) if rest else lanes)


def columns(lines):
    """Lines added to each other: the columns in groups of four vectors at a time, the rest vector by vector or one by one."""
    width = lines.shape[-1] if lines.ndim > 1 else 1
    group = WAYS * LANES if width >= LANES else WAYS
    whole = width // group * group
    if not whole:
        return ways(lines)
    grouped = cascade(lines[..., :whole])
    return grouped if whole == width else np.concatenate([grouped, ways(lines[..., whole:])], -1)


def in_turn(lines, axis=0):
    """One after the other along a dimension: NumPy adds so wherever that is not the innermost one in memory."""
    strides = lines.strides
    if len(strides) > 1 and strides[axis] > min(strides) and lines.size > lines.shape[axis]:
        return np.add.reduce(lines, axis)
    if not lines.shape[axis]:
        return np.zeros(lines.shape[:axis] + lines.shape[axis + 1 :], lines.dtype)
    return np.add.accumulate(lines, axis)[(slice(None),) * axis + (-1,)]


def ways(lines):
    """Four running sums side by side."""
    count, rest = divmod(len(lines), WAYS)
    if not count:
        return in_turn(lines)
    sums = cascade((lines[:-rest] if rest else lines).reshape((count, WAYS, *lines.shape[1:])))
    if rest:
        sums[0] = in_turn(np.concatenate([sums[:1], lines[-rest:]]))
    return in_turn(sums)


def cascade(lines):
    """Running sums of runs, of runs of runs and so on, so that rounding errors grow slowly."""
    step, parts = 1 << max(4, (len(lines) - 1).bit_length() // LEVELS), []
    if len(lines) < step:
        return in_turn(lines)
    for _ in range(LEVELS - 1):
        runs = len(lines) // step
        parts.append(in_turn(lines[runs * step :]))
        if not runs:
            break
        lines = in_turn(lines[: runs * step].reshape((runs, step, *lines.shape[1:])), 1)
    else:
        parts.append(in_turn(lines))
    return in_turn(np.stack(parts)) if len(parts) > 1 else parts[0]


def softmax_total(array, dim):
    """The sums inside a softmax, with `dim` kept: vectors added lane by lane along the last dimension, else one after the other."""
    if array.dtype is not SINGLE:
        return np.add.reduce(array, dim, keepdims=True)
    if dim != array.ndim - 1:
        return in_turn(array, dim).reshape(*array.shape[:dim], 1, *array.shape[dim + 1 :])
    return lane_sums(np.ascontiguousarray(front(array, -1)))[..., None]


def lane_sums(lines, lanes=16):
    """Fewer lines than a vector has lanes are added up in turn, more of them lane by lane, and then the halves of the lanes."""
    length = len(lines)
    if length < lanes:
        return in_turn(lines)
    whole = length // lanes * lanes
    vectors = in_turn(lines[:whole].reshape((-1, lanes, *lines.shape[1:])))
    vectors[: length - whole] += lines[whole:]
    while len(vectors) > 1:
        half = len(vectors) // 2
        vectors = vectors[:half] + vectors[half:]
    return vectors[0]


def euclidean(array, axis, keepdims=False):
    """The root of the sum of squares, in single precision: eight lanes where the last dimensions go, line by line where the first do."""
    if axis is None and not array.flags.c_contiguous:  # as it lies in memory
        array = array.transpose(sorted(range(array.ndim), key=lambda d: -abs(array.strides[d])))
    if axis is None and not keepdims:
        return np.sqrt(squares_in_lanes(array.reshape(-1)))
    gone = set(range(array.ndim)) if axis is None else set(axis)
    kept = array.ndim - len(gone)
    if gone == set(range(kept, array.ndim)) and array.flags.c_contiguous:
        result = np.sqrt(squares_in_lanes(array.reshape(*array.shape[:kept], -1)))
        return np.expand_dims(result, tuple(gone)) if keepdims else result
    if gone == set(range(len(gone))):
        return np.sqrt(np.add.reduce(array * array, axis, keepdims=keepdims))
    return np.sqrt(np.add.reduce(np.square(array, dtype=DOUBLE), axis, keepdims=keepdims)).astype(SINGLE)


def squares_in_lanes(rows):
    """Eight running sums, then what is left over: four squares, and up to three more that are added with one rounding each."""
    whole = rows.shape[-1] // LANES * LANES
    four = whole + (rows.shape[-1] - whole) // WAYS * WAYS
    squares = rows[..., :four] * rows[..., :four]
    if whole:
        lanes = np.add.reduce(squares[..., :whole].reshape(*rows.shape[:-1], -1, LANES), -2)
        squares = np.concatenate([lanes, squares[..., whole:]], -1) if four > whole else lanes
    total = np.add.accumulate(squares, -1)[..., -1] if four else np.zeros(rows.shape[:-1], SINGLE)
    for i in range(four, rows.shape[-1]):
        total = (np.square(rows[..., i], dtype=DOUBLE) + total).astype(SINGLE)
    return total
