"""What can be asked of a tensor besides its values: layout, storage, kind. Imports tensor, views and dtypes."""

import math

import numpy as np

from gradrepl.engine.advice import warn
from gradrepl.engine.dtypes import FORMATS, LAYOUTS, OF_ARRAY, layout
from gradrepl.engine.names import NAMES
from gradrepl.engine.promotion import castable, promote, result_dtype
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import INFERENCE, Tensor
from gradrepl.engine.views import offset


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_floating_point(input):
    return input.array.dtype.kind == "f"


def is_complex(input):
    return input.array.dtype.kind == "c"


def is_signed(self):
    return self.array.dtype.kind in "ifc"


def is_nonzero(input):
    if input.payload.size != 1:
        few = "no values" if not input.array.size else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {few} is ambiguous")
    return bool(input.array.item())


def numel(input):
    return input.array.size


def dim(self):
    return self.array.ndim


def size(self, dim=None):
    if dim is None:
        return self.shape
    try:
        return self.array.shape[dim]
    except IndexError:
        return self.array.shape[wrapped(dim, self.array.ndim)]


def stride(self, dim=None):
    array = self.array
    strides = tuple([s // array.itemsize for s in array.strides]) if array.size else dense_strides(array.shape)
    return strides if dim is None else strides[wrapped(dim, self.array.ndim)]


def dense_strides(shape):
    """The strides of an empty tensor, for which NumPy has zeros."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def wrapped(dim, ndim):
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})")
    if not ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return dim % span


def is_contiguous(self, memory_format=FORMATS["contiguous_format"]):
    if memory_format is FORMATS["channels_last"]:
        return self.array.ndim == 4 and self.array.transpose(0, 2, 3, 1).flags.c_contiguous
    if memory_format is FORMATS["channels_last_3d"]:
        return self.array.ndim == 5 and self.array.transpose(0, 2, 3, 4, 1).flags.c_contiguous
    return self.array.flags.c_contiguous


def contiguous(self, memory_format=FORMATS["contiguous_format"]):
    return self if is_contiguous(self, memory_format) else NAMES["clone"](self, memory_format)


UNCLEAR = "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."


def dim_order(self, *, ambiguity_check=False):
    """The dims from the outermost in memory to the innermost."""
    if not isinstance(ambiguity_check, bool) and not (
        isinstance(ambiguity_check, (list, tuple)) and all(isinstance(f, layout) for f in ambiguity_check)
    ):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    strides = stride(self)
    if ambiguity_check is True and (1 in self.array.shape or len(set(strides)) < len(strides)):
        raise RuntimeError(UNCLEAR)
    if ambiguity_check and ambiguity_check is not True and sum(is_contiguous(self, f) for f in ambiguity_check) != 1:
        raise RuntimeError(UNCLEAR)
    return tuple(sorted(range(len(strides)), key=lambda dim: (-strides[dim], dim)))


def storage_offset(self):
    return offset(self.array)


def element_size(self):
    return self.array.itemsize


def data_ptr(self):
    return self.array.__array_interface__["data"][0] if self.array.size else 0


def get_device(input):
    return -1


def is_pinned(self, device=None):
    return False


def is_inference(input):
    return input.counter is INFERENCE


def is_same_size(input, other):
    return input.array.shape == other.array.shape


def never(self):
    return False


def result_type(tensor1, tensor2):
    """The dtype that an operation on both would have."""
    operands = [x.array if isinstance(x, Tensor) else plain_number(x) for x in (tensor1, tensor2)]
    return OF_ARRAY[result_dtype(operands)]


def plain_number(value):
    if not isinstance(value, (int, float, complex)):
        raise TypeError("result_type(): arguments")
    return value


def promote_types(type1, type2):
    return OF_ARRAY[promote(type1.array, type2.array)]


def can_cast(from_, to):
    return castable(from_.array, to.array)


def apply_(self, callable):
    """Replace every element by what a Python function makes of it."""
    if self.requires_grad:
        raise RuntimeError("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
    for place, value in np.ndenumerate(self.array.copy()):
        self.array[place] = callable(value.item())
    return self


def map_(self, tensor, callable):
    """Replace every element by what a Python function makes of it and of the other tensor's."""
    if self.requires_grad or tensor.requires_grad:
        raise RuntimeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    others = np.broadcast_to(tensor.array, self.array.shape).copy()
    for place, value in np.ndenumerate(self.array.copy()):
        self.array[place] = callable(value.item(), others[place].item())
    return self


def map2_(self, x, y, callable):
    """Replace every element by what a Python function makes of it and of two other tensors'."""
    if any(t.requires_grad for t in (self, x, y)):
        raise RuntimeError("Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead.")
    others = [np.broadcast_to(t.array, self.array.shape).copy() for t in (x, y)]
    for place, value in np.ndenumerate(self.array.copy()):
        self.array[place] = callable(value.item(), *[other[place].item() for other in others])
    return self


def resize(self, *sizes):
    """Another shape of as many elements, as PyTorch did it before `reshape`."""
    warn("non-inplace resize is deprecated")
    return resized(self, sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)


def resize_as(self, tensor):
    warn("non-inplace resize_as is deprecated")
    return resized(self, tensor.shape)


def resized(self, sizes):
    wanted = math.prod(sizes)
    if wanted != self.array.size:
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({wanted} elements in total), but the given tensor has a size of "
            f"{'x'.join(map(str, self.array.shape))} ({self.array.size} elements). autograd's resize can only change the shape of a given "
            "tensor, while preserving the number of elements. "
        )
    return self.contiguous().view(*sizes)


def pin_memory(self, device=None):
    raise RuntimeError("Cannot access accelerator device when none is available.")


def to_dense(self, dtype=None, *, masked_grad=None):
    return self if dtype is None else self.to(dtype)


def out_of_reach(name):
    def refused(self, *args, **kwargs):
        raise NotImplementedError(f"the embedded engine has no Tensor.{name}()")

    return refused


for name in "to_sparse to_sparse_csr to_mkldnn bfloat16".split():
    setattr(Tensor, name, out_of_reach(name))
for name, fact in dict(
    nbytes=lambda self: self.array.nbytes,
    itemsize=lambda self: self.array.itemsize,
    ndim=lambda self: self.array.ndim,
    layout=lambda self: LAYOUTS["strided"],
    is_cpu=lambda self: True,
    names=lambda self: (None,) * self.array.ndim,
    name=lambda self: None,
).items():
    setattr(Tensor, name, property(fact))


def volatile(self):
    warn("volatile was removed (Variable.volatile is always False)")
    return False


def set_volatile(self, value):
    warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")


setattr(Tensor, "volatile", property(volatile, set_volatile))  # noqa: B010
for name in (
    "is_cuda is_sparse is_sparse_csr is_quantized is_meta is_mps is_xpu is_mkldnn is_nested is_vulkan is_xla is_ipu is_maia is_mtia".split()
):
    setattr(Tensor, name, property(lambda self: False))


def dlpack(self, **options):
    return self.detach().array.__dlpack__(**options)


def dlpack_device(self):
    return self.array.__dlpack_device__()


publish(
    globals(),
    functions="is_tensor get_device result_type promote_types can_cast",
    both="is_inference is_same_size is_distributed:never is_floating_point is_complex is_nonzero numel is_signed",
    methods="""dim ndimension:dim nelement:numel size stride is_contiguous contiguous dim_order storage_offset element_size data_ptr
        get_device is_pinned apply_ map_ map2_ __dlpack__:dlpack __dlpack_device__:dlpack_device resize resize_as pin_memory to_dense""",
)
