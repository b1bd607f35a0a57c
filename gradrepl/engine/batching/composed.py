"""How functions that are no ops are batched, and a batched tensor's operators. Imports rules."""

from types import FunctionType

from gradrepl.engine.arguments import GUARDS
from gradrepl.engine.batching.dispatch import call_of
from gradrepl.engine.batching.tensor import BatchedTensor
from gradrepl.engine.tensor import Batched, Tensor


def batched_call(function, home, name, args, named):
    """What a public function does that is no op and met a batched tensor."""
    guarded = GUARDS.get(f"{home}_{name}", function)  # what the rule calls may meet another level
    return call_of(name, guarded, name.endswith("_") and not name.endswith("__"), args, named)


def caught(name, function):
    """An operator of Python's, which no guard stands round."""

    def operator(self, *args):
        try:
            return function(self, *args)
        except Batched:
            return call_of(name, operator, False, (self, *args), {})

    operator.__name__ = name
    return operator


def reflected(name, plain):
    """`a - x` where only `x` is batched: Python asks the subclass first, but it is `a` that comes first."""

    def operator(self, other):
        function = getattr(Tensor, plain if isinstance(other, Tensor) else name)
        first, second = (other, self) if isinstance(other, Tensor) else (self, other)
        try:
            return function(first, second)
        except Batched:
            return call_of(plain, operator, False, (self, other), {})

    operator.__name__ = name
    return operator


BARE = {"__repr__", "__format__", "__init__", "__new__", "__hash__", "__deepcopy__"}
for name, function in list(vars(Tensor).items()):
    if not (name.startswith("__") and isinstance(function, FunctionType)) or name in BARE:
        continue
    plain = f"__{name[3:]}"
    if name.startswith("__r") and hasattr(Tensor, plain) and name != "__reversed__":
        setattr(BatchedTensor, name, reflected(name, plain))
    elif getattr(function, "declaration", None) is None:
        setattr(BatchedTensor, name, caught(name, function))
