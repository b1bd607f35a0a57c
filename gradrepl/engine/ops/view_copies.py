"""`select_copy` and its like, views that copy; `select_scatter` and its like, a source written into a copy through a view."""

from functools import wraps

from gradrepl.engine.declare import op
from gradrepl.engine.dims import inferred, require, sizes_of
from gradrepl.engine.missing import without_derivative
from gradrepl.engine.ops import joining, shapes
from gradrepl.engine.ops.pointwise import clone
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import tensor_of


def copying(view):
    """The op that gives what a view shows as a tensor of its own."""
    declared = view.declaration

    @wraps(declared.forward)
    def forward(*args, **kwargs):
        found = declared.forward(*args, **kwargs)
        return [x.copy() for x in found] if declared.outputs == ["*"] else found.copy()

    forward.__name__ = f"{declared.name}_copied"
    return op(f"{declared.node_name}_copy", outputs=", ".join(declared.outputs), **declared.formulas)(forward)


alias_copy, permute_dims_copy, transpose_copy, t_copy = map(copying, (shapes.alias_of, shapes.permute_dims, shapes.transpose, shapes.t))
unsqueeze_copy, unfold_copy, unbind_copy, slice_copy = map(copying, (shapes.unsqueeze, shapes.unfold, joining.unbind, shapes.slice_dim))
select_at_copy, view_sizes_copy, expand_sizes_copy, as_strided_at_copy = map(
    copying, (shapes.select_at, shapes.view_sizes, shapes.expand_sizes, shapes.as_strided_at)
)
squeezes = tuple(map(copying, (shapes.squeeze_all, shapes.squeeze_dim, shapes.squeeze_dims)))
split_equal_copy, split_sizes_copy = map(copying, (joining.split_equal, joining.split_sizes_op))


@op("NarrowCopyBackward0", self="slice_backward(grad, self.sym_sizes(), dim, start, start + length, 1)")
def narrow_copy_op(self, dim, start, length):
    return shapes.slice_of(self, dim, start, start + length, 1).copy()


def select_copy(self, dim, index):
    shapes.check_select(self, dim, index)
    return select_at_copy(self, dim, index)


def narrow_copy(self, dim, start, length):
    return narrow_copy_op(self, dim, shapes.narrow_start(self, dim, start, length), length)


def view_copy(self, size=None, dtype=None):
    if dtype is not None or isinstance(size, shapes.Dtype):
        return clone(shapes.view_dtype(self, dtype or size))
    return view_sizes_copy(self, inferred(sizes_of((size,)), self.array.size))


def expand_copy(self, *size, implicit=False):
    return expand_sizes_copy(self, sizes_of(size))


def permute_copy(self, dims):
    return permute_dims_copy(self, tuple(dims))


def as_strided_copy(self, size, stride, storage_offset=None):
    return as_strided_at_copy(self, tuple(size), tuple(stride), storage_offset)


def squeeze_copy(self, dim=None):
    every, one, several = squeezes
    return every(self) if dim is None else several(self, tuple(dim)) if isinstance(dim, (tuple, list)) else one(self, dim)


def split_copy(self, split_size, dim=0):
    return split_equal_copy(self, split_size, dim)


def split_with_sizes_copy(self, split_sizes, dim=0):
    return split_sizes_copy(self, tuple(split_sizes), dim)


def detach_(self):
    return self.detach_()


def detach_copy(self):
    return without_derivative("detach_copy", tensor_of(self.array.copy()), self)


# ---- a source written through a view of a copy


def written_through(array, src, view):
    out = array.copy("K")
    part = view(out)
    if part.shape != src.shape:
        sizes = f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        raise RuntimeError(f"expected src to have a size equal to the slice of self. {sizes}")
    part[...] = src
    return out


@op("SelectScatterBackward0", self="select_scatter_op(grad, zeros(src.meta), dim, index)", src="select_at(grad, dim, index)")
def select_scatter_op(self, src, dim, index):
    return written_through(self, src, lambda out: shapes.select_of(out, dim, index))


@op(
    "SliceScatterBackward0",
    self="slice_scatter(grad, zeros(src.meta), dim, start, end, step)",
    src="slice_dim(grad, dim, start, end, step)",
)
def slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    return written_through(self, src, lambda out: shapes.slice_of(out, dim, start, end, step))


@op(
    "DiagonalScatterBackward0",
    self="diagonal_scatter(grad, zeros(src.meta), offset, dim1, dim2)",
    src="grad.diagonal(offset, dim1, dim2)",
)
def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    return written_through(self, src, lambda out: shapes.diagonal_of(out, offset, dim1, dim2))


@op(
    "AsStridedScatterBackward0",
    self="as_strided_scatter_backward(grad, size, stride, storage_offset)",
    src="as_strided_at(grad.contiguous(), size, stride, storage_offset)",
)
def as_strided_scatter_op(self, src, size, stride, storage_offset=None):
    return written_through(self, src, lambda out: shapes.at_strides(out, size, stride, storage_offset))


def select_scatter(self, src, dim, index):
    shapes.check_select(self, dim, index)
    return select_scatter_op(self, src, dim, index)


def as_strided_scatter(self, src, size, stride, storage_offset=None):
    require(len(size) == len(stride), "mismatch in length of strides and shape")
    return as_strided_scatter_op(self, src, tuple(size), tuple(stride), storage_offset)


publish(
    globals(),
    both="narrow_copy select_scatter slice_scatter diagonal_scatter as_strided_scatter",
    functions="""alias_copy transpose_copy t_copy unsqueeze_copy unfold_copy unbind_copy slice_copy select_copy view_copy expand_copy
        permute_copy as_strided_copy squeeze_copy split_copy split_with_sizes_copy detach_copy detach_""",
)
