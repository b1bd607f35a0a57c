"""Saved tensors that may be written: what a write is about to change is copied first. Imports modes, names, saved and views."""

import weakref

from gradrepl.engine.modes import no_grad
from gradrepl.engine.names import NAMES
from gradrepl.engine.views import BEFORE_WRITE, owner

OUTSIDE = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded."
NESTED = "allow_mutation_on_saved_tensors contexts cannot be nested"


class _Handle:
    """Stands in a graph for a tensor that it saved."""

    __slots__ = ("__weakref__", "memory")

    def __init__(self, memory):
        self.memory = memory


class _AllowMutationOnSavedContext:
    """The tensors that graphs saved inside one `allow_mutation_on_saved_tensors`, and the copies of those that were written since."""

    __module__ = "torch.autograd.graph"

    def __init__(self):
        self.cloned = weakref.WeakKeyDictionary()
        self.original = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle = weakref.WeakValueDictionary()
        self.live = True

    def pack(self, tensor):
        array = tensor.array
        key = array.__array_interface__["data"][0], array.shape, array.strides, tensor.counter.version
        handle = self.tid_to_weakhandle.get(key)
        if handle is None:
            handle = self.tid_to_weakhandle[key] = _Handle(id(owner(array)))
            self.original[handle] = tensor.detach()
        return handle

    def unpack(self, handle):
        assert self.live, OUTSIDE
        return self.cloned[handle] if handle in self.cloned else self.original[handle]

    def write(self, tensor):
        """Copy what lies in the memory that a tensor is about to change."""
        memory = id(owner(tensor.array))
        for handle in [h for h in list(self.original) if h.memory == memory]:
            with no_grad():
                self.cloned[handle] = NAMES["clone"](self.original.pop(handle))

    def begin(self):
        if BEFORE_WRITE:
            raise RuntimeError(NESTED)
        BEFORE_WRITE.append(self.write)

    def end(self):
        BEFORE_WRITE.clear()
        self.live = False
        for table in (self.cloned, self.original, self.tid_to_weakhandle):
            table.clear()
