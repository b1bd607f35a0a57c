"""torch.ops: the operations by their ATen names, `torch.ops.aten.<name>.<overload>`."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.engine.names import NAMES
from gradrepl.engine.ops.shapes import unfold
from gradrepl.engine.tensor import Tensor


def _slice(self, dim=0, start=None, end=None, step=1):
    return self[(slice(None),) * (dim % self.dim()) + (slice(start, end, step),)]


RENAMED = {"alias": NAMES["alias_of"], "slice": _slice, "unfold": unfold}


def found(name):
    """What an operation's name stands for: a function of torch, or a method of tensors."""
    if name in RENAMED:
        return RENAMED[name]
    homes = (torch, torch.nn.functional, torch.special, torch._C._nn, Tensor)
    for home in homes:
        if hasattr(home, name):
            return getattr(home, name)
    for prefix in ("linalg_", "fft_", "special_"):
        home = getattr(torch, prefix[:-1])
        if name.startswith(prefix) and hasattr(home, name.removeprefix(prefix)):
            return getattr(home, name.removeprefix(prefix))
    return None


class OpOverload:
    """One form of an operation; all forms of one run the same function, which tells them apart by its arguments."""

    def __init__(self, packet, overload):
        self.overloadpacket, self._overloadname = packet, overload
        self.__name__ = f"{packet.__name__}.{overload}"

    def __call__(self, /, *args, **kwargs):
        return self.overloadpacket(*args, **kwargs)

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self.overloadpacket.__name__}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __eq__(self, other):
        return isinstance(other, OpOverload) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    @property
    def namespace(self):
        return self.overloadpacket.namespace


class OpOverloadPacket:
    """An operation, with its forms as attributes."""

    def __init__(self, namespace, name, function):
        self.namespace, self.__name__, self._function = namespace, name, function

    def __call__(self, /, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(f"'{self}' object has no attribute '{overload}'")
        value = self.__dict__[overload] = OpOverload(self, overload)
        return value

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"


class _OpNamespace:
    """The operations of one library."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        function = found(name) if self.name == "aten" else None
        if function is None:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        value = self.__dict__[name] = OpOverloadPacket(self.name, name, function)
        return value

    def _packet(self, name):
        """An operation that runs, also if its name is nobody's to call."""
        return getattr(self, name, None) or OpOverloadPacket(self.name, name, None)


class _Ops:
    """The libraries of operations; all that is built in is in `aten`."""

    def __getattr__(self, name):
        value = self.__dict__[name] = _OpNamespace(name)
        return value


ops = _Ops()
