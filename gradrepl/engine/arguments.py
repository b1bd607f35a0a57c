"""The guard around what users call: PyTorch's own errors for wrong arguments, its names for right ones. Imports signatures only when needed.

A guard is a function with the parameters of the one it guards, all optional, so that a wrong call arrives there too. It costs one call (90 ns);
everything else happens when that call has failed. Like an op's recorder it is compiled when first used.
"""

import inspect
from types import FunctionType

import numpy as np

MISSING = type("Missing", (), {"__repr__": lambda self: "…", "__slots__": ()})()
NAMES = {"MISSING": MISSING, "__builtins__": __builtins__}
MISTAKES = TypeError, AttributeError, ValueError, IndexError, KeyError, NotImplementedError
TEXT = """\
def {name}({signature}):
    try:
        if {unfit}: raise Unbound
        result = {inner}({forwarded})
        if result is not NotImplemented: return result
        mistake = None
    except MISTAKES as error:
        mistake = error
    return mended({inner}, {home!r}, {name!r}, {given}, mistake)
"""


class Unbound(TypeError):
    """A call that Python would refuse to bind."""


def guard(function, name, home):
    """A function that calls `function`, and explains what was wrong with the arguments. `home` says which table of signatures."""
    key = f"{home}_{name}"
    while key in NAMES and NAMES[key] is not function:
        key += "_"
    NAMES[key] = function
    guarded = FunctionType(compile_and_call.__code__, NAMES, name)
    guarded.__kwdefaults__ = dict(guarded=guarded, key=key, home=home)
    guarded.__doc__, guarded.__module__, guarded.__wrapped__ = function.__doc__, function.__module__, function
    return guarded


def compile_and_call(*args, guarded, key, home, **kwargs):
    compile_guard(guarded, key, home)
    return guarded(*args, **kwargs)


def parameters_of(function):
    declaration = getattr(function, "declaration", None)
    if declaration is not None:
        return [p.replace(annotation=p.empty) for p in declaration.parameters.values()]
    if function.__kwdefaults__ and "declaration" in function.__kwdefaults__:  # the writing variant of an op
        return [p.replace(annotation=p.empty) for p in function.__kwdefaults__["declaration"].parameters.values()]
    return list(inspect.signature(function).parameters.values())


def compile_guard(guarded, key, home):
    name = guarded.__name__
    exec(guard_text(parameters_of(NAMES[key]), name, key, home), NAMES, made := {})
    made = made[name]
    guarded.__code__, guarded.__defaults__, guarded.__kwdefaults__ = made.__code__, made.__defaults__, made.__kwdefaults__


NAMES.update(compile_guard=compile_guard, MISTAKES=MISTAKES, Unbound=Unbound)
