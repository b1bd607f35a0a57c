"""torch.nn.modules.container: modules and parameters in a sequence or a dictionary."""

__name__ = __name__.removeprefix("gradrepl.")

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import chain, islice

from gradrepl import torch
from gradrepl.engine.tensor import Tensor
from gradrepl.torch.nn.modules.module import Module, _addindent
from gradrepl.torch.nn.parameter import Parameter

ADDS_SEQUENTIAL = "add operator supports only objects of Sequential class, but {} is given."


def pairs_of(values, kind, plural=None):
    """The (key, value) pairs of a mapping, or of a sequence of pairs that is checked one by one."""
    if not isinstance(values, Iterable):
        name = type(values).__name__
        raise TypeError(f"{plural or kind}.update should be called with an iterable of key/value pairs, but got {name}")
    if isinstance(values, (Mapping, ModuleDict, ParameterDict)):
        yield from values.items()
        return
    for j, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{kind} update sequence element #{j} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"{kind} update sequence element #{j} has length {len(pair)}; 2 is required")
        yield pair[0], pair[1]


class Sequential(Module):
    """Modules that run one after the other."""

    def __init__(self, *args):
        super().__init__()
        first = args[0] if len(args) == 1 else None
        for key, module in first.items() if isinstance(first, OrderedDict) else ((str(i), m) for i, m in enumerate(args)):
            self.add_module(key, module)

    def place(self, index):
        size, index = len(self), operator.index(index)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return next(islice(self._modules, index % size, None))

    def renumber(self, modules):
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self.place(idx)]

    def __setitem__(self, idx, module):
        return setattr(self, self.place(idx), module)

    def __delitem__(self, idx):
        for key in list(self._modules)[idx] if isinstance(idx, slice) else (self.place(idx),):
            delattr(self, key)
        self.renumber(list(self._modules.values()))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(ADDS_SEQUENTIAL.format(type(other)))
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(ADDS_SEQUENTIAL.format(type(other)))
        return self.extend(list(other))

    def check_factor(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def __mul__(self, other):
        self.check_factor(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other):
        self.check_factor(other)
        return self.extend(list(self) * (other - 1))

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def forward(self, input):
        for module in self:
            input = module(input)
        return input

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self.renumber(modules)
        return self

    def extend(self, sequential):
        for layer in sequential:
            self.append(layer)
        return self


class ModuleList(Module):
    """Modules in a list."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def place(self, idx):
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} is out of range")
        return str(idx % len(self))

    def __getitem__(self, idx):
        return self.__class__(list(self)[idx]) if isinstance(idx, slice) else self._modules[self.place(idx)]

    def __setitem__(self, idx, module):
        return setattr(self, self.place(idx), module)

    def __delitem__(self, idx):
        for key in [str(i) for i in range(len(self))[idx]] if isinstance(idx, slice) else (self.place(idx),):
            delattr(self, key)
        self._modules = {str(i): module for i, module in enumerate(self)}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList(chain(self, other))

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def __repr__(self):
        """Neighbours that look alike are shown once."""
        texts = [repr(module) for module in self]
        if not texts:
            return self._get_name() + "()"
        runs = []
        for i, text in enumerate(texts):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [f"({a})" + f": {t}" if a == b else f"({a}-{b}): {b - a + 1} x {t}" for a, b, t in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(_addindent(line, 2) for line in lines) + "\n)"

    def insert(self, index, module):
        modules = list(self)
        modules.insert(index if index >= 0 else max(index + len(self), 0), module)
        self._modules = {str(i): m for i, m in enumerate(modules)}

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def extend(self, modules):
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        for module in modules:
            self.append(module)
        return self


class ModuleDict(Module):
    """Modules under names."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    keys = lambda self: self._modules.keys()
    items = lambda self: self._modules.items()
    values = lambda self: self._modules.values()

    def update(self, modules):
        for key, module in pairs_of(modules, "ModuleDict"):
            self[key] = module


def shown(key, value, type_of):
    """One line about a member of a parameter container; the list tells dtypes, the dictionary type names."""
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {kind} containing: [{type_of(value)} of size {'x'.join(map(str, value.size()))}]"


def as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """Parameters (and anything else) in a list."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def place(self, idx):
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} is out of range")
        return str(idx % len(self))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            made = self.__class__()
            for i in range(len(self))[idx]:
                made.append(self[i])
            return made
        return getattr(self, self.place(idx))

    def __setitem__(self, idx, param):
        return setattr(self, self.place(idx), as_parameter(param))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, value):
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(shown(i, value, lambda x: x.dtype) for i, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters (and anything else) under names."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def check_key(self, key):
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}'). "
                "Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self.check_key(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self.check_key(key), as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self.check_key(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        return ParameterDict(OrderedDict((key, self[key]) for key in self._keys))

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        return ParameterDict((key, default) for key in keys)

    keys = lambda self: self._keys.keys()
    items = lambda self: ((key, self[key]) for key in self._keys)
    values = lambda self: (self[key] for key in self._keys)

    def update(self, parameters):
        pairs = pairs_of(parameters, "ParameterDict", "ParametersDict")
        for key, value in sorted(pairs) if isinstance(parameters, dict) and not isinstance(parameters, OrderedDict) else pairs:
            self[key] = value

    def extra_repr(self):
        return "\n".join(shown(key, value, torch.typename) for key, value in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self
