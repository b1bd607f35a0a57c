"""Subclasses of Tensor, and `__torch_function__`: who sees the calls on them. Imports tensor, arguments and names.

A plain tensor pays nothing for this: a subclass gets methods of its own that go through `__torch_function__`, and the functions of `torch`
are made to look at their arguments when the first such subclass is defined.
"""

import threading
from types import FunctionType

from gradrepl.engine.arguments import GUARDED, GUARDS, flattened
from gradrepl.engine.names import NAMES
from gradrepl.engine.tensor import Tensor, tensor_of


class _Here(threading.local):
    disabled = 0


here = _Here()


def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    """A `__torch_function__` that lets functions run as on plain tensors: their results are plain."""
    with DisableTorchFunctionSubclass():
        return func(*args, **kwargs or {})


class DisableTorchFunctionSubclass:
    """In this block subclasses are taken for plain tensors."""

    __module__ = "torch._C"

    def __enter__(self):
        here.disabled += 1

    def __exit__(self, *_):
        here.disabled -= 1


DisableTorchFunction = DisableTorchFunctionSubclass


def torch_function(cls, func, types, args=(), kwargs=None):
    """Run the function, and make the tensors in its answer instances of the class."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **kwargs or {})
    return result if func in KEEP_PLAIN else converted(result, cls)


def converted(result, cls):
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else as_subclass(result, cls)
    if isinstance(result, (tuple, list)) and any(isinstance(x, (Tensor, tuple, list)) for x in result):
        items = [converted(x, cls) for x in result]
        return type(result)(items) if type(result) in (tuple, list) or not hasattr(result, "_fields") else type(result)(*items)
    return result


def as_subclass(self, cls):
    """The same tensor, as an instance of another class: its alias in the graph."""
    twin = NAMES["alias_of"](self)
    twin.__class__ = cls
    return twin


def make_subclass(cls, data, require_grad=False, **options):
    """An instance on the data of a tensor, outside the graph."""
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    twin = tensor_of(data.array, cls)
    if require_grad:
        twin.requires_grad = True
    return twin


def has_own_torch_function(value):
    found = getattr(type(value), "__torch_function__", None)
    return found is not None and type(value) is not Tensor and found is not _disabled_torch_function_impl and not here.disabled


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Ask the arguments' classes, most derived first, until one has an answer."""
    kinds: list = []
    for value in flattened(relevant_args):
        if has_own_torch_function(value) and type(value) not in kinds:
            place = next((i for i, kind in enumerate(kinds) if issubclass(type(value), kind)), len(kinds))
            kinds.insert(place, type(value))
    for kind in kinds:
        result = kind.__torch_function__(public_api, tuple(kinds), args, kwargs)
        if result is not NotImplemented:
            return result
    shown = ", ".join(map(repr, kinds))
    raise TypeError(
        f"Multiple dispatch failed for 'torch.{public_api.__name__}'; all __torch_function__ handlers returned NotImplemented:\n\n  {shown}"
    )


# ---- what a subclass gets of its own

BARE = set(
    """
    __class__ __new__ __init__ __init_subclass__ __torch_function__ __dict__ __weakref__ __slots__ __module__ __doc__ __hash__ __del__
    __reduce_ex__ __reduce__ __getattribute__ __setattr__ __delattr__ __dir__ __sizeof__ __deepcopy__ __array_priority__ __array__
    __iter__ __len__ as_subclass _make_subclass array needs_grad node output_nr counter origin extras rare share_counter alias refreshed
    """.split()
)
KEEP_PLAIN: set = set()


def sees_calls(cls):
    return cls.__torch_function__ is not _disabled_torch_function_impl


def prepare(cls, **kwargs):
    """Give a subclass its dispatching methods."""
    super(Tensor, cls).__init_subclass__(**kwargs)
    if not sees_calls(cls):
        return
    if Tensor in cls.__bases__ or not hasattr(cls, "_dispatching"):
        for name, value in list(vars(Tensor).items()):
            if name not in BARE and not any(name in vars(kind) for kind in cls.__mro__[: cls.__mro__.index(Tensor)]):
                shown = dispatching(value)
                if shown is not None:
                    setattr(cls, name, shown)
        cls._dispatching = True
    look_at_arguments()


def dispatching(value):
    if isinstance(value, FunctionType):
        return dispatching_method(value)
    return dispatching_property(value) if isinstance(value, property) else None


def dispatching_method(function):
    def method(self, *args, **kwargs):
        if here.disabled:
            return function(self, *args, **kwargs)
        return handle_torch_function(function, (self, *args, *kwargs.values()), self, *args, **kwargs)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method


class Getter:
    """A property as `__torch_function__` sees it."""

    __name__ = "__get__"

    def __init__(self, get):
        self.get = get

    def __call__(self, instance):
        return self.get(instance)


def dispatching_property(shown):
    getter = Getter(shown.fget)
    KEEP_PLAIN.add(getter)

    def get(self):
        return shown.fget(self) if here.disabled else handle_torch_function(getter, (self,), self)

    return property(get, shown.fset, shown.fdel)


class Looking:
    """Whether the functions of `torch` look for subclasses among their arguments."""

    on = False


def look_at_arguments():
    if Looking.on:
        return
    Looking.on = True
    GUARDED.update(has_own_torch_function=has_own_torch_function, handle_torch_function=handle_torch_function, flattened=flattened)
    for key, guarded in list(GUARDS.items()):
        if key.startswith("functions_"):
            look(guarded)


def look(guarded):
    """Put a look at the arguments in front of a guard, by giving its code to another function."""
    inner = FunctionType(guarded.__code__, GUARDED, guarded.__name__, guarded.__defaults__)
    inner.__kwdefaults__ = guarded.__kwdefaults__ and guarded.__kwdefaults__ | dict(guarded=inner)
    key = f"looking_{guarded.__name__}"
    GUARDED[key], GUARDED[f"{key}_guard"] = inner, guarded
    text = f"""\
def {guarded.__name__}(*args, **kwargs):
    for value in flattened((*args, *kwargs.values())):
        if has_own_torch_function(value): return handle_torch_function({key}_guard, (*args, *kwargs.values()), *args, **kwargs)
    return {key}(*args, **kwargs)
"""
    exec(compile(text, f"<torch {guarded.__name__}>", "exec"), GUARDED, made := {})
    guarded.__code__, guarded.__defaults__, guarded.__kwdefaults__ = made[guarded.__name__].__code__, None, None


def make_subclass_of(cls, kind, data, require_grad=False, **options):
    return make_subclass(kind, data, require_grad, **options)


METHODS = dict(
    __torch_function__=classmethod(torch_function),
    __init_subclass__=classmethod(prepare),
    _make_subclass=classmethod(make_subclass_of),
    as_subclass=as_subclass,
)
for name, method in METHODS.items():
    setattr(Tensor, name, method)
