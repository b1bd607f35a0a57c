"""What nodes keep for their backward: tensors that went through a pack hook, and the places that users see.

Imports tensor, modes and names.
"""

from gradrepl.engine.modes import here, no_grad
from gradrepl.engine.names import NAMES, listen, unlisten
from gradrepl.engine.tensor import Tensor, tensor_of

PACK_WRITES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
    "hook cannot be modified by in-place operations as this can lead to unexpected side-effects. "
    "Please open an issue if you need to perform in-place operations on the input to a pack hook."
)
HOOKED = "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time."
FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)
WRONG_HOOKS = (
    "{}(): incompatible function arguments. The following argument types are supported:\n    1. ({}arg0: collections.abc.Callable, arg1: "
    "collections.abc.Callable) -> None\n\nInvoked with: "
)
RELEASED = "released"
NAMES["RELEASED"] = RELEASED
NUMBERS = (bool, int, float, complex)


class Packed:
    """A saved tensor that went through a pack hook, and where it stands in the graph: what comes back stands there again."""

    __slots__ = ("value", "unpack", "edge", "needs_grad")

    def __init__(self, tensor, edge, needs_grad, pack, unpack):
        version = tensor.counter.version
        self.edge, self.needs_grad, self.unpack = edge, needs_grad, unpack
        with no_grad():
            self.value = pack(tensor)
        if tensor.counter.version != version:
            raise RuntimeError(PACK_WRITES)

    def restored(self, node):
        packing = here.packing
        result = self.unpack(self.value)
        if here.packing is not packing:  # saved_tensors_hooks that a backward enters or leaves are those from before once it is over
            put_in_force(packing)
        if not isinstance(result, Tensor):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(result).__name__}")
        if not self.needs_grad and not result.needs_grad:
            return result
        tensor = tensor_of(result.array)
        tensor.counter = result.share_counter()
        if self.needs_grad:
            tensor.needs_grad = True
            tensor.node, tensor.output_nr = (node.seen_as(), self.edge) if isinstance(self.edge, int) else self.edge
        return tensor


class SavedTensor:
    """`_raw_saved_…`: a place where pack hooks can be set by hand. `index` is the place in a saved list."""

    __module__ = "torch._C._autograd"
    __slots__ = ("node", "place", "index", "__weakref__")

    def __init__(self, node=None, place=None, index=None):
        if node is None:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self.node, self.place, self.index = node, place, index

    @property
    def value(self):
        value = self.node._kept(self.place)
        return value if self.index is None or value is RELEASED else value[self.index]

    def register_hooks(self, *hooks):
        if len(hooks) != 2 or not all(map(callable, hooks)):
            arguments = ", ".join(map(repr, (self, *hooks)))
            raise TypeError(WRONG_HOOKS.format("register_hooks", "self: torch._C._autograd.SavedTensor, ") + arguments)
        (pack, unpack), value = hooks, self.value
        if isinstance(value, Packed):
            raise RuntimeError(HOOKED)
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if value is RELEASED:
            raise RuntimeError(FREED)
        bare = lambda tensor: pack(tensor.alias())  # set by hand, a hook sees the values and not their history
        if self.index is None:
            self.node.pack(bare, unpack, (self.place,))
        else:
            saved = list(self.node.saved_values)
            saved[self.place] = list(saved[self.place])
            saved[self.place][self.index] = self.node.packed(self.place, value, bare, unpack)
            self.node.saved_values, self.node.saved_versions = tuple(saved), None

    def unpack(self):
        value = self.node.unpacked(self.place)
        return value if self.index is None else value[self.index]

    @property
    def data(self):
        """What is kept, as it is: no hook runs and no version is checked; None once it is freed."""
        value = self.value
        if value is RELEASED or value is None:
            return None
        return value.value if isinstance(value, Packed) else value if isinstance(value, Tensor) else tensor_of(value)

    @property
    def unpack_hook(self):
        value = self.node._bare(self.place) if self.index is None else self.value
        return value.unpack if isinstance(value, Packed) else None


def raw_saved(node, place):
    """What `_raw_saved_…` shows."""
    value = node._bare(place)
    return tuple(SavedTensor(node, place, i) for i in range(len(value))) if isinstance(value, list) else SavedTensor(node, place)


# ---- saved_tensors_hooks: `here.packing` holds those in force in this thread, innermost last


def push_hooks(pack_hook, unpack_hook):
    """Saved tensors of this thread go through these hooks from here on, until they are popped."""
    if here.no_packing:
        raise RuntimeError(here.no_packing)
    hooks = pack_hook, unpack_hook
    if not all(map(callable, hooks)):
        raise TypeError(WRONG_HOOKS.format("_push_saved_tensors_default_hooks", "") + ", ".join(map(repr, hooks)))
    put_in_force((*here.packing, hooks))


def pop_hooks():
    put_in_force(here.packing[:-1])


def disable_hooks(message):
    """Hooks raise this error from here on."""
    if here.packing:
        raise RuntimeError(message)
    here.no_packing = message


def put_in_force(hooks):
    if bool(hooks) != bool(here.packing):
        (listen if hooks else unlisten)("watch", pack_saved)
    here.packing = hooks


def pack_saved(node, result):
    """What the innermost saved_tensors_hooks of this thread does to a new node."""
    if here.packing:
        node.pack(*here.packing[-1])


def attempt(saved):
    """Save what an op needed that then failed: inference tensors are refused and hooks are called all the same."""
    if here.records:
        for value in saved:
            for tensor in value if isinstance(value, list) else (value,):
                if tensor is not None and tensor.counter.version >= 0 and here.packing:
                    here.packing[-1][0](tensor)


NAMES["attempt"] = attempt
