"""The guard around what users call: PyTorch's own errors for wrong arguments, and its names for right ones. Imports tensor.

A guard takes the positional arguments of the function it guards and any keywords, so that a wrong call arrives there too. It costs one call
(90 ns); everything else happens when that call has failed, in mistakes.py. Like an op's recorder it is compiled when first used.
"""

import inspect
from types import FunctionType

from gradrepl.engine.tensor import Batched

MISTAKES = Exception  # PyTorch looks at the arguments first, so even an error about shapes may have to give way
GENUINE = "genuine"  # the arguments were right: what the function raised stands
TEXT = """\
def {name}({signature}*_excess, **_named):
    try:
        if {unusual}:
            if {odd}: result = verified({key}, {home!r}, {name!r}, trimmed(({given}*_excess,), {defaults}), _named)
            elif {first_only}: result = {key}({first}**_named)
            else: result = by_name({key}, ({given}*_excess,), {defaults}, _named)
        else: result = {key}({forwarded})
        if result is not NotImplemented: return result
    except Batched: return batched_call({key}, {home!r}, {name!r}, trimmed(({given}*_excess,), {defaults}), _named)
    except MISTAKES as mistake:
        result = mended({key}, {home!r}, {name!r}, trimmed(({given}*_excess,), {defaults}), _named, mistake)
        if result is GENUINE: raise
        return result
    return mended({key}, {home!r}, {name!r}, trimmed(({given}*_excess,), {defaults}), _named, None)
"""


class Missing:
    """Stands for a required argument that was not given."""

    __slots__ = ()


MISSING = Missing()


def guard(function, name, home):
    """A function that calls `function`, and explains what was wrong with the arguments. `home` names the table of signatures."""
    key = f"{home}_{name}"
    GUARDED[key] = function
    guarded = FunctionType(compile_and_call.__code__, GUARDED, name)
    guarded.__kwdefaults__ = dict(guarded=guarded, key=key, home=home)
    guarded.__doc__, guarded.__module__, guarded.__wrapped__ = function.__doc__, function.__module__, function
    guarded.__qualname__ = name
    GUARDS[key] = guarded
    return guarded


def compile_and_call(*args, guarded, key, home, **kwargs):
    compile_guard(guarded, key, home)
    return guarded(*args, **kwargs)


def compile_guard(guarded, key, home):
    """Write a guard and put its code in the place of the stub's: whoever holds the stub has the guard."""
    name, (positional, spreads, flags) = guarded.__name__, parameters_of(GUARDED[key])
    GUARDED[f"{key}_defaults"] = defaults = tuple(MISSING if p.default is p.empty else p.default for p in positional)
    names = [p.name for p in positional]
    given = "".join(n + ", " for n in names)
    required = [p.name for p in positional if p.default is p.empty][home == "methods" :]
    odd = odd_flags(flags, names) if home != "functional" else ["False"]
    GUARDED.update({f"default_{key}_{n}": default for n, default in zip(names, defaults, strict=True)})
    text = TEXT.format(
        name=name,
        key=key,
        home=home,
        signature="".join(f"{n}=MISSING, " for n in names) + "/, " * bool(names),
        given=given,
        forwarded=given + "*_excess" * spreads,
        defaults=f"{key}_defaults",
        first=given.partition(" ")[0],
        first_only=" and ".join(
            ["not _excess", *[f"{n} is not default_{key}_{n}" for n in names[:1]], *[f"{n} is default_{key}_{n}" for n in names[1:]]]
        ),  # the rest may be named: x.sum(dim=0)
        unusual=" or ".join(["_named", *["_excess"] * (not spreads), *[f"{n} is MISSING" for n in required], *odd[:-1]]),
        odd=odd[-1],
    )
    made: dict = {}
    exec(compile(text, f"<torch {name}>", "exec"), GUARDED, made)
    guarded.__code__, guarded.__defaults__, guarded.__kwdefaults__ = made[name].__code__, defaults, None


def parameters_of(function):
    """The positional parameters, whether any number of others may follow, and which parameters are True or False."""
    declaration = getattr(function, "declaration", None) or (function.__kwdefaults__ or {}).get("declaration")
    parameters = declaration.parameters if declaration is not None else inspect.signature(function, follow_wrapped=False).parameters
    positional = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    flags = {p.name: p.default for p in parameters.values() if type(p.default) is bool or p.annotation is bool}
    return positional, any(p.kind is p.VAR_POSITIONAL for p in parameters.values()), flags


def odd_flags(flags, names):
    """Whether a flag is neither True nor False, as expressions: one for those given by place, if there are any, then one for all."""
    placed = [f"({n} is not False and {n} is not True{f' and {n} is not None' * (d is None)})" for n, d in flags.items() if n in names]
    named = [f"_named and _named.get({n!r}, True).__class__ is not bool" for n in flags]
    return [" or ".join(part) for part in (placed, placed + named) if part] or ["False"]


def by_name(function, args, defaults, named):
    return function(*trimmed(args, defaults), **named)


def trimmed(args, defaults):
    """The positional arguments that were given: those after the last that is not its parameter's default were not."""
    count = len(args)
    while 0 < count <= len(defaults) and args[count - 1] is defaults[count - 1]:
        count -= 1
    return args[:count]


def mended(*call):
    """The result of a call that failed, GENUINE, or an error that explains: see mistakes.py, which is only then read."""
    from gradrepl.engine.mistakes import mended

    return mended(*call)


def batched_call(*call):
    """The result of a call that asked a batched tensor for its values: by a rule of the function's own, or slice by slice."""
    from gradrepl.engine.batching.composed import batched_call

    return batched_call(*call)


def verified(*call):
    """The result of a call with a flag that is neither True nor False."""
    from gradrepl.engine.mistakes import verified

    return verified(*call)


def flattened(values):
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from flattened(value)
        else:
            yield value


GUARDS: dict = {}  # key -> guard
GUARDED: dict = dict(  # the globals of all guards
    MISTAKES=MISTAKES,
    Batched=Batched,
    batched_call=batched_call,
    MISSING=MISSING,
    GENUINE=GENUINE,
    by_name=by_name,
    trimmed=trimmed,
    mended=mended,
    verified=verified,
    compile_guard=compile_guard,
)
