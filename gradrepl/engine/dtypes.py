"""PyTorch's dtypes, and the NumPy dtype that stands behind each. Imports NumPy only."""

import numpy as np


class dtype:
    """One element type. `array` is the NumPy dtype of the arrays that hold it."""

    __module__ = "torch"
    __slots__ = ("name", "array", "is_floating_point", "is_complex", "is_signed", "itemsize")

    def __init__(self, name, array):
        self.name, self.array = name, np.dtype(array)
        self.is_floating_point, self.is_complex = self.array.kind == "f", self.array.kind == "c"
        self.is_signed, self.itemsize = self.array.kind in "ifc", self.array.itemsize

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name


DTYPES = {
    name: dtype(name, np.bool_ if name == "bool" else name)
    for name in "float16 float32 float64 complex64 complex128 uint8 int8 int16 int32 int64 uint16 uint32 uint64 bool".split()
}
OF_ARRAY = {each.array: each for each in DTYPES.values()}  # NumPy's dtype -> PyTorch's
ALIASES = dict(
    half="float16", float="float32", double="float64", cfloat="complex64", cdouble="complex128", short="int16", int="int32", long="int64"
)
float32 = DTYPES["float32"]


class Default:
    """The dtype of floats that do not say theirs, as a NumPy dtype; `torch.set_default_dtype` changes it."""

    float = np.dtype(np.float32)


class Size(tuple):
    """A shape."""

    __module__ = "torch"
    __slots__ = ()

    def __repr__(self):
        return f"torch.Size({list(self)})"
