"""What can be asked of a tensor besides its values: layout, storage, kind. Imports tensor, views and dtypes."""

from gradrepl.engine.dtypes import FORMATS, LAYOUTS
from gradrepl.engine.names import NAMES
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor
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
    if input.array.size != 1:
        few = "no values" if not input.array.size else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {few} is ambiguous")
    return bool(input.array.item())


def numel(input):
    return input.array.size


def dim(self):
    return self.array.ndim


def size(self, dim=None):
    return self.shape if dim is None else self.shape[wrapped(dim, self.array.ndim)]


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
for name in (
    "is_cuda is_sparse is_sparse_csr is_quantized is_meta is_mps is_xpu is_mkldnn is_nested is_vulkan is_xla is_ipu is_maia is_mtia".split()
):
    setattr(Tensor, name, property(lambda self: False))

publish(
    globals(),
    functions="is_tensor get_device",
    both="is_floating_point is_complex is_nonzero numel is_signed",
    methods="""dim ndimension:dim nelement:numel size stride is_contiguous contiguous storage_offset element_size data_ptr
        get_device is_pinned""",
)
