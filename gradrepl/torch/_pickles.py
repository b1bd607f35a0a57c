"""The pickle inside a saved file: written with PyTorch's names, read back as data that cannot run code. Imports the engine only.

The pure-Python pickler and unpickler of the standard library are extended: theirs is the only code where an opcode can be left out.
"""

__name__ = __name__.removeprefix("gradrepl.")

import _compat_pickle
import codecs
import importlib
import pickle
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import ClassVar

import numpy as np

from gradrepl.engine.constructor import TYPES
from gradrepl.engine.copies import reduce
from gradrepl.engine.dtypes import DTYPES, Size, device, dtype
from gradrepl.engine.memory import TypedStorage
from gradrepl.engine.tensor import Tensor
from gradrepl.torch import _utils

STORAGES = {f"{kind}Storage": name for name, kind in TYPES.items()}
REBUILDERS = [f for name, f in vars(_utils).items() if name.startswith("_rebuild_")]


class Named:
    """A global that is written by its name alone."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self, *args):
        raise TypeError(f"{self.module}.{self.name} is a name to be written, not to be called")


class Stored:
    """A storage to be written beside the pickle."""

    def __init__(self, flat):
        self.flat = flat


class Writer(pickle._Pickler):
    """Writes a pickle; the storages that it mentions collect in `storages`."""

    dispatch: ClassVar[dict] = pickle._Pickler.dispatch.copy()

    def __init__(self, file, protocol=2):
        super().__init__(file, protocol)
        self.storages, self.names = {}, {}

    def named(self, module, name):
        return self.names.setdefault((module, name), Named(module, name))

    def persistent_id(self, obj):
        if isinstance(obj, TypedStorage):
            obj = Stored(obj.flat)
        if not isinstance(obj, Stored):
            return None
        flat = obj.flat
        place = flat.__array_interface__["data"][0] if flat.size else id(obj)
        key, _ = self.storages.setdefault((place, flat.nbytes), (str(len(self.storages)), flat))
        return "storage", self.named("torch", TYPES[flat.dtype.name] + "Storage"), key, "cpu", flat.size

    def reducer_override(self, obj):
        if isinstance(obj, Tensor):
            return self.reduce_tensor(obj)
        if isinstance(obj, Size):
            return self.named("torch", "Size"), (tuple(obj),)
        if isinstance(obj, device):
            return self.named("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        return NotImplemented

    def reduce_tensor(self, tensor):
        flat, size, stride, start, requires_grad = reduce(tensor, 2)[1][:5]
        plain = self.named("torch._utils", "_rebuild_tensor_v2")
        kind = type(tensor).__name__
        parts = Stored(flat), start, tuple(size), tuple(stride), requires_grad and kind != "Parameter", OrderedDict()
        if type(tensor) is Tensor:
            return plain, parts
        if kind == "Parameter":
            return self.named("torch._utils", "_rebuild_parameter"), (tensor.data, requires_grad, OrderedDict())
        return self.named("torch._tensor", "_rebuild_from_type_v2"), (plain, type(tensor), parts, tensor.__dict__)

    def save_named(self, obj):
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def save_dtype(self, obj):
        self.save(self.named("torch", obj.name))

    def save_global(self, obj, name=None):
        """A class or function; one of the embedded torch is written without a look at what `import torch` means here."""
        module = getattr(obj, "__module__", None) or ""
        if module.partition(".")[0] == "torch" and not isinstance(obj, type(sys)):
            return self.save(self.named(module, name or obj.__qualname__))
        return super().save_global(obj, name)

    dispatch.update({Named: save_named, dtype: save_dtype, FunctionType: save_global})


def of_torch(module, name):
    """What `module.name` of a file written by PyTorch means here."""
    if module == "torch" and name in STORAGES:
        return DTYPES[STORAGES[name]]
    if module.partition(".")[0] == "torch":
        found = importlib.import_module("gradrepl." + module)
        for part in name.split("."):
            found = getattr(found, part)
        return found
    return None


class Reader(pickle._Unpickler):
    """Reads a pickle back; `storage(kind, key, count)` gives the memory it mentions."""

    def __init__(self, file, storage, encoding="utf-8"):
        super().__init__(file, encoding=encoding)
        self.storage = storage

    def persistent_load(self, saved):
        tag, kind, key, _, count = saved[:5]
        if tag != "storage":
            raise RuntimeError(f"Unknown typename for persistent_load, expected 'storage' but got '{tag}'")
        return TypedStorage(self.storage(kind, key, count))

    def find_class(self, module, name):
        return of_torch(module, name) or super().find_class(module, name)


SAFE: set = set()  # what users allow besides
BLOCKED = {"sys", "os", "posix", "nt"}
BUILTINS: dict[str, Callable] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.set": set,
    "__builtin__.set": set,
    "_codecs.encode": codecs.encode,  # how protocol 2 writes bytes
}
BUILTINS |= {
    "builtins.bytearray": bytearray,
    "__builtin__.bytearray": bytearray,
    "builtins.complex": complex,
    "__builtin__.complex": complex,
}
TORCH = {f"torch.{name}" for name in (*DTYPES, *STORAGES, "Size", "device", "Tensor")}
TORCH |= {f"{home}.{f.__name__}" for f in REBUILDERS for home in ("torch._utils", "torch._tensor")} | {"torch.nn.parameter.Parameter"}
OPCODES = """APPEND APPENDS BINFLOAT BINGET BININT BININT1 BININT2 BINPERSID BINPUT BINUNICODE BUILD EMPTY_DICT EMPTY_LIST EMPTY_SET
    EMPTY_TUPLE GLOBAL LONG1 LONG_BINGET LONG_BINPUT MARK NEWFALSE NEWOBJ NEWTRUE NONE PROTO REDUCE SETITEM SETITEMS
    SHORT_BINSTRING STOP TUPLE TUPLE1 TUPLE2 TUPLE3""".split()


class Known(dict):
    """What to do for each opcode; others are refused."""

    def __missing__(self, opcode):
        raise pickle.UnpicklingError(f"Unsupported operand {opcode}")


class DataReader(Reader):
    """A Reader that makes tensors, numbers, texts and containers of them, and nothing else: no name in the file can run code."""

    dispatch: ClassVar[dict] = Known({getattr(pickle, name)[0]: pickle._Unpickler.dispatch[getattr(pickle, name)[0]] for name in OPCODES})

    def __init__(self, file, storage, encoding="utf-8"):
        super().__init__(file, storage, encoding)
        self.given: list = []  # what find_class has handed out: only this may be called

    def find_class(self, module, name):
        found = self.allowed(module, name)
        self.given.append(found)
        return found

    def allowed(self, module, name):
        module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
        full = f"{module}.{name}"
        if full in BUILTINS:
            return BUILTINS[full]
        if full in TORCH:
            return of_torch(module, name)
        if module in BLOCKED:
            raise pickle.UnpicklingError(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        for entry in SAFE:
            thing, path = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
            if path == full:
                return thing
        shown = full.removeprefix("builtins.").removeprefix("__builtin__.")
        raise pickle.UnpicklingError(
            f"Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{shown}])` or the `torch.serialization.safe_globals([{shown}])` context manager to "
            "allowlist this global if you trust this class/function."
        )

    def check_given(self, thing):
        if not any(thing is given for given in self.given):
            raise pickle.UnpicklingError(f"Trying to call reduce for unrecognized function {thing}")

    def load_reduce(self):
        self.check_given(self.stack[-2])
        pickle._Unpickler.load_reduce(self)

    def load_newobj(self):
        self.check_given(self.stack[-2])
        pickle._Unpickler.load_newobj(self)

    def load_build(self):
        """State for an OrderedDict, or for an instance of a class that the user allowed."""
        instance = self.stack[-2]
        if type(instance) is not OrderedDict and not any(type(instance) is given for given in self.given):
            raise pickle.UnpicklingError(f"Can only build Tensor, Parameter, OrderedDict or types allowlisted, but got {type(instance)}")
        pickle._Unpickler.load_build(self)

    dispatch.update({pickle.REDUCE[0]: load_reduce, pickle.NEWOBJ[0]: load_newobj, pickle.BUILD[0]: load_build})


def flat_array(data, kind, byteorder):
    """The bytes of a storage as an array."""
    found = np.frombuffer(bytearray(data), kind.array.newbyteorder("<" if byteorder == "little" else ">"))
    return found.astype(kind.array, copy=False) if byteorder != sys.byteorder else found.view(kind.array)
