"""The memory under tensors, as `untyped_storage()` and `storage()` show it. Imports views, dtypes and public."""

import numpy as np

from gradrepl.engine.advice import warn
from gradrepl.engine.dtypes import CPU, OF_ARRAY, Default
from gradrepl.engine.public import publish
from gradrepl.engine.views import storage

TYPED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
    "This should only matter to you if you are using storages directly. "
    " To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)


class Storage:
    """What both kinds share: a flat array on the memory."""

    __module__ = "torch.storage"
    device, is_cuda, is_sparse = CPU, False, False

    def __init__(self, flat):
        self.flat = flat

    def __len__(self):
        return self.flat.size

    size = __len__

    def __getitem__(self, index):
        found = self.flat[index]
        return type(self)(found) if isinstance(index, slice) else found.item()

    def __setitem__(self, index, value):
        self.flat[index] = value

    def __iter__(self):
        return iter(self.flat.tolist())

    def tolist(self):
        return self.flat.tolist()

    def nbytes(self):
        return self.flat.nbytes

    def element_size(self):
        return self.flat.itemsize

    def data_ptr(self):
        return self.flat.__array_interface__["data"][0] if self.flat.size else 0

    def fill_(self, value):
        self.flat[...] = value
        return self

    def clone(self):
        return type(self)(self.flat.copy())

    def is_shared(self):
        return False

    def is_pinned(self, device="cuda"):
        return False

    def __eq__(self, other):
        return type(other) is type(self) and self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self):
        return hash((self.data_ptr(), self.nbytes()))

    def __repr__(self):
        lines = "".join(f" {value}\n" for value in self.flat.tolist())
        return f"{lines}[{self.described()} of size {self.flat.size}]"


class UntypedStorage(Storage):
    """The memory, byte by byte."""

    def __init__(self, flat=0, *, device=None):
        super().__init__(np.zeros(flat, np.uint8) if isinstance(flat, int) else flat)

    def described(self):
        return "torch.storage.UntypedStorage(device=cpu)"


class TypedStorage(Storage):
    """The memory, element by element."""

    def __init__(self, flat=0, *, dtype=None, device=None):
        super().__init__(np.zeros(flat, dtype.array if dtype else Default.float) if isinstance(flat, int) else flat)

    dtype = property(lambda self: OF_ARRAY[self.flat.dtype])

    def described(self):
        return f"torch.storage.TypedStorage(dtype={self.dtype}, device=cpu)"

    def untyped(self):
        return UntypedStorage(self.flat.view(np.uint8))

    _untyped_storage = property(untyped)


def untyped_storage(self):
    return UntypedStorage(storage(self.array).view(np.uint8))


def typed_storage(self):
    warn(TYPED)
    return TypedStorage(storage(self.array))


def is_shared(self):
    return False


def share_memory_(self):
    return self


def is_storage(obj):
    return isinstance(obj, Storage)


publish(
    globals(),
    functions="UntypedStorage TypedStorage is_storage",
    methods="untyped_storage storage:typed_storage is_shared share_memory_",
)
