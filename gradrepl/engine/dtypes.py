"""The types that describe a tensor: dtype, Size, device, layout, memory_format, finfo, iinfo. Imports NumPy only."""

import math
import operator
import re

import numpy as np

# The dtypes no array of ours can have: name -> (bytes, letter of the kind). They can be named, printed and compared.
FOREIGN = dict.fromkeys("float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2".split(), (1, "f"))
FOREIGN |= dict.fromkeys("qint8 bits8 bits1x8 bits2x4 bits4x2".split(), (1, "V")) | dict.fromkeys(
    "quint8 quint2x4 quint4x2".split(), (1, "V")
)
FOREIGN |= {f"uint{n}": (1, "u") for n in range(1, 8)} | {f"int{n}": (1, "i") for n in range(1, 8)}
FOREIGN |= dict(bfloat16=(2, "f"), complex32=(4, "c"), qint32=(4, "V"), bits16=(2, "V"))
COMPLEX = dict(float16="complex32", bfloat16="complex64", float32="complex64", float64="complex128")
REAL = dict(complex32="float16", complex64="float32", complex128="float64")
# dtype -> what messages about elements call it
SCALARS = dict(
    float16="Half", float32="Float", float64="Double", bfloat16="BFloat16", complex32="ComplexHalf", complex64="ComplexFloat",
    complex128="ComplexDouble", uint8="Byte", int8="Char", int16="Short", int32="Int", int64="Long", uint16="UInt16", uint32="UInt32",
    uint64="UInt64", bool="Bool",
)  # fmt: skip


class dtype:
    """One element type. `array` is the NumPy dtype of the arrays that hold it."""

    __module__ = "torch"
    __slots__ = ("name", "_array", "is_floating_point", "is_complex", "is_signed", "itemsize")

    def __new__(cls, *_, **__):
        raise TypeError("cannot create 'torch.dtype' instances")

    @property
    def array(self):
        if self._array is None:
            raise NotImplementedError(f"the embedded engine has no {self!r} tensors")
        return self._array

    @property
    def abbr(self):
        """A short name: f32, i64."""
        start, bits, rest = re.fullmatch(r"(bf|[a-z])[a-z]*(\d*)(.*)", self.name).groups()
        return start + (bits or "8") + rest.replace("_", "")

    def __repr__(self):
        return f"torch.{self.name}"

    def to_complex(self):
        if self.name not in COMPLEX and not self.is_complex:
            raise RuntimeError(f"Unknown Complex ScalarType for {SCALARS.get(self.name, self.name)}")
        return DTYPES[COMPLEX.get(self.name, self.name)]

    def to_real(self):
        return DTYPES[REAL.get(self.name, self.name)]


def made(kind, **fields):
    """An instance of a class that users cannot instantiate."""
    instance = object.__new__(kind)
    for name, value in fields.items():
        setattr(instance, name, value)
    return instance


def dtype_of(name, array, itemsize, kind):
    facts = dict(is_floating_point=kind == "f", is_complex=kind == "c", is_signed=kind in "ifc")
    return made(dtype, name=name, _array=array, itemsize=itemsize, **facts)


OWN = "float16 float32 float64 complex64 complex128 uint8 int8 int16 int32 int64 uint16 uint32 uint64 bool".split()
DTYPES = {name: dtype_of(name, np.dtype(name), np.dtype(name).itemsize, np.dtype(name).kind) for name in OWN}
DTYPES |= {name: dtype_of(name, None, *facts) for name, facts in FOREIGN.items()}
OF_ARRAY = {DTYPES[name].array: DTYPES[name] for name in OWN}  # NumPy's dtype -> PyTorch's
ALIASES = dict(
    half="float16", float="float32", double="float64", chalf="complex32", cfloat="complex64", cdouble="complex128",
    short="int16", int="int32", long="int64", bit="uint1",
)  # fmt: skip
OF_PYTHON = {float: DTYPES["float64"], int: DTYPES["int64"], bool: DTYPES["bool"], complex: DTYPES["complex128"]}
float32 = DTYPES["float32"]


def scalar_name(array_dtype):
    """What messages call the elements of an array: Float, Long."""
    return SCALARS[array_dtype.name]


class Default:
    """What `torch.set_default_dtype` and `set_default_device` change: the NumPy dtype of floats, and the device."""

    float = np.dtype(np.float32)
    complex = np.dtype(np.complex64)
    device = None
    stands_out = False  # whether memory that was not written shows it: with `use_deterministic_algorithms`


def set_default_dtype(d):
    """Change the dtype of floats that do not say theirs."""
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    Default.float = d.array
    Default.complex = np.dtype(np.complex128 if d.array.itemsize == 8 else np.complex64)


def get_default_dtype():
    return OF_ARRAY[Default.float]


class Size(tuple):
    """A shape."""

    __module__ = "torch"
    __slots__ = ()

    def __new__(cls, sizes=()):
        return tuple.__new__(cls, sizes if type(sizes) is tuple and all([type(n) is int for n in sizes]) else checked_sizes(sizes))

    def numel(self):
        return math.prod(self)

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(key, slice) else found

    def __add__(self, other):
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else size_error("Size", other)

    def __radd__(self, other):
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else size_error(type(other).__name__, self)

    def __mul__(self, times):
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__


def size_error(left, right):
    raise TypeError(f'can only concatenate tuple (not "{type(right).__name__}") to tuple')


def checked_sizes(sizes):
    sizes = tuple(sizes)
    for i, n in enumerate(sizes):
        if not hasattr(n, "__index__"):
            raise TypeError(f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')")
    return [operator.index(n) for n in sizes]


DEVICES = """cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone""".split()
DEVICE_FORMS = (
    "device() received an invalid combination of arguments - got ({}), but expected one of:\n * (torch.device device)\n{}"
    " * (str type, int index = -1)\n"
)


class device:
    """Where a tensor lives; here all live on `cpu`."""

    __module__ = "torch"
    __slots__ = ("type", "index")
    type: str
    index: int | None

    def __new__(cls, *args, **kwargs):
        return device_of(*device_arguments(*args, **kwargs))

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __repr__(self):
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __enter__(self):
        DEVICES_BEFORE.append(Default.device)
        Default.device = self

    def __exit__(self, *_):
        Default.device = DEVICES_BEFORE.pop()


DEVICES_BEFORE: list = []


def device_arguments(*args, **named):
    """What `torch.device(…)` was called with, as (type, index)."""
    args = args or tuple(named[name] for name in ("device", "type") if name in named)
    if not args:
        raise TypeError(DEVICE_FORMS.format("", ""))
    first, index = args[0], args[1] if len(args) > 1 else named.get("index")
    if isinstance(first, device):
        return first.type, first.index
    if isinstance(first, int) and not isinstance(first, bool):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    if not isinstance(first, str):
        name = type(first).__name__
        raise TypeError(DEVICE_FORMS.format(name, f"      didn't match because some of the arguments have invalid types: (!{name}!)\n"))
    if index is not None and not isinstance(index, int):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not {type(index).__name__}")
    return (first, index) if index is not None else parsed_device(first)


def parsed_device(text):
    kind, colon, index = text.partition(":")
    if kind not in DEVICES:
        raise RuntimeError(f"Expected one of {', '.join(DEVICES)} device type at start of device string: {text}")
    if colon and not index.isdigit():
        raise RuntimeError(f"Invalid device string: '{text}'")
    return kind, int(index) if colon else None


def device_of(kind, index=None):
    made = object.__new__(device)
    object.__setattr__(made, "type", kind)
    object.__setattr__(made, "index", index)
    return made


CPU = device_of("cpu")


def check_device(given, making=True):
    """Refuse every device but the CPU, as a CPU build of PyTorch does. `making` a tensor there, or moving one."""
    kind = given.type if isinstance(given, device) else device(given).type
    if kind == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    if kind == "meta":
        raise NotImplementedError("the embedded engine has no tensors on the meta device")
    if kind == "cpu":
        return
    if making:
        raise NotImplementedError(
            f"Could not run 'aten::empty.memory_format' with arguments from the '{kind.upper()}' backend. This could be because the "
            "operator doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom build)."
        )
    raise RuntimeError(f"PyTorch is not linked with support for {kind} devices")


class layout:
    """How a tensor lies in memory."""

    __module__ = "torch"
    __slots__ = ("name",)
    name: str

    def __repr__(self):
        return f"torch.{self.name}"


class memory_format(layout):
    __module__ = "torch"
    __slots__ = ()


LAYOUTS = {
    name: made(layout, name=name) for name in "strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged _mkldnn".split()
}
FORMATS = {name: made(memory_format, name=name) for name in "contiguous_format preserve_format channels_last channels_last_3d".split()}
strided = LAYOUTS["strided"]


class finfo:
    """The limits of a floating point dtype."""

    __module__ = "torch"
    __slots__ = ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")

    def __new__(cls, type=None):
        kind = type or get_default_dtype()
        if not isinstance(kind, dtype):
            raise TypeError(f"finfo(): argument 'type' (position 1) must be torch.dtype, not {kind.__class__.__name__}")
        kind = kind.to_real()
        if not kind.is_floating_point:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        if kind.name == "bfloat16":
            return made(cls, **BFLOAT16)
        found = np.finfo(kind.array)
        tiny = float(found.smallest_normal)
        fields = {name: float(getattr(found, name)) for name in ("eps", "max", "min")}
        return made(
            cls, bits=int(found.bits), resolution=10.0**-found.precision, tiny=tiny, smallest_normal=tiny, dtype=kind.name, **fields
        )

    def __repr__(self):
        shown = "resolution min max eps smallest_normal tiny".split()
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in shown)}, dtype={self.dtype})"

    def __eq__(self, other):
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self):
        return hash(self.dtype)


BFLOAT16 = dict(
    bits=16, eps=2.0**-7, max=3.3895313892515355e38, min=-3.3895313892515355e38, tiny=2.0**-126, smallest_normal=2.0**-126,
    resolution=0.01, dtype="bfloat16",
)  # fmt: skip


class iinfo:
    """The limits of an integer dtype."""

    __module__ = "torch"
    __slots__ = ("bits", "max", "min", "dtype")

    def __new__(cls, type):
        if not isinstance(type, dtype):
            raise TypeError(f"iinfo(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}")
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if type.name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        found = np.iinfo(type.array)
        return made(cls, bits=int(found.bits), max=int(found.max), min=int(found.min), dtype=type.name)

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other):
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self):
        return hash(self.dtype)
