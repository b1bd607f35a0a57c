"""The guard around what users call: PyTorch's own errors for wrong arguments, and its names for right ones. Imports tensor.

A guard takes the positional arguments of the function it guards and any keywords, so that a wrong call arrives there too. It costs one call
(90 ns); everything else happens when that call has failed, with signatures.py. Like an op's recorder it is compiled when first used.
"""

import inspect
import re
from types import FunctionType

import numpy as np

from gradrepl.engine.promotion import NUMBERS
from gradrepl.engine.tensor import Tensor, tensor_of

MISTAKES = Exception  # PyTorch looks at the arguments first, so even an error about shapes may have to give way
GENUINE = "genuine"  # the arguments were right: what the function raised stands
TEXT = """\
def {name}({signature}*_excess, **_named):
    try:
        if {unusual}:
            if {first_only}: result = {key}({first}**_named)
            else: result = by_name({key}, ({given}*_excess,), {defaults}, _named)
        else: result = {key}({forwarded})
        if result is not NotImplemented: return result
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
    name, (positional, spreads) = guarded.__name__, parameters_of(GUARDED[key])
    GUARDED[f"{key}_defaults"] = defaults = tuple(MISSING if p.default is p.empty else p.default for p in positional)
    names = [p.name for p in positional]
    given = "".join(n + ", " for n in names)
    required = [p.name for p in positional if p.default is p.empty][home == "methods" :]
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
        unusual=" or ".join(["_named", *["_excess"] * (not spreads), *[f"{n} is MISSING" for n in required]]),
    )
    made: dict = {}
    exec(compile(text, f"<torch {name}>", "exec"), GUARDED, made)
    guarded.__code__, guarded.__defaults__, guarded.__kwdefaults__ = made[name].__code__, defaults, None


def parameters_of(function):
    """The positional parameters, and whether any number of others may follow."""
    declaration = getattr(function, "declaration", None) or (function.__kwdefaults__ or {}).get("declaration")
    parameters = declaration.parameters if declaration is not None else inspect.signature(function, follow_wrapped=False).parameters
    positional = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return positional, any(p.kind is p.VAR_POSITIONAL for p in parameters.values())


def by_name(function, args, defaults, named):
    return function(*trimmed(args, defaults), **named)


def trimmed(args, defaults):
    """The positional arguments that were given: those after the last that is not its parameter's default were not."""
    count = len(args)
    while 0 < count <= len(defaults) and args[count - 1] is defaults[count - 1]:
        count -= 1
    return args[:count]


# ---- when a call has failed


def mended(function, home, name, args, kwargs, mistake):
    """The result of a call that only Python refused, or GENUINE, or PyTorch's error for wrong arguments."""
    from gradrepl.engine.signatures import bound_arguments, signatures
    from gradrepl.engine.subclasses import handle_torch_function, has_own_torch_function

    everything = list(flattened((*args, *kwargs.values())))
    if any(map(has_own_torch_function, everything)):
        return handle_torch_function(GUARDS[f"{home}_{name}"], everything, *args, **kwargs)
    options = signatures(home, name)
    if home == "functional" and name not in WRITTEN_IN_C:
        return inside(function, name, args, kwargs, mistake)
    if not options:
        check_tensors(name, args)
        return without_table(function, f"Tensor.{name}" if home == "methods" else name, mistake)
    given = args[1:] if home == "methods" else args
    if home == "methods" and not options[0].parameters and len(options) == 1 and (given or kwargs):
        problem = "no keyword arguments" if kwargs else f"no arguments ({len(given)} given)"
        raise TypeError(f"TensorBase.{name}() takes {problem}") from None
    signature, bound = bound_arguments(options, given, kwargs)
    numbers = signature.numbers_as_tensors(bound)
    if mistake is not None and not is_binding(mistake) and not numbers:
        return GENUINE
    bound |= {number: wrapped(bound[number]) for number in numbers}
    return called_by_name(function, args[: len(args) - len(given)], bound)


def wrapped(number):
    return tensor_of(np.asarray(number, NUMBERS.get(type(number))))


VARIADIC = set("atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod chain_matmul meshgrid".split())


def check_tensors(name, args):
    """The functions of any number of tensors hand them on as one list."""
    if name in VARIADIC:
        from gradrepl.engine.signatures import is_tensors

        is_tensors(args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args, 0)


WRITTEN_IN_C = set(  # what PyTorch's nn.functional takes from C as it is; the rest it writes in Python, on functions of the same names
    """adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink hardtanh_ leaky_relu_ linear logsigmoid native_channel_shuffle
    one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rrelu_ scaled_dot_product_attention selu_ softplus softshrink
    threshold_""".split()
)


# what PyTorch's Python asks of the first tensors before C sees them, so that other objects fail there
ASKS = dict.fromkeys("mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy".split(), "size") | dict(glu="dim", interpolate="dim")
METHODS = {"softmax", "log_softmax", "tanh", "sigmoid"}  # what it calls as methods


def inside(function, name, args, kwargs, mistake):
    """A function of nn.functional that PyTorch writes in Python: Python's own words for the call, C's for what it passes on."""
    from gradrepl.engine.signatures import bound_arguments, signatures

    if mistake is None or is_binding(mistake) or isinstance(mistake, ValueError):
        return without_table(function, name, mistake)
    given = bound_by_python(function, args, kwargs)
    asked = ASKS.get(name) or name
    for value in list(given.values())[: 1 if name in METHODS or asked == "dim" else 2]:
        if (name in ASKS or name in METHODS) and not isinstance(value, Tensor):
            raise AttributeError(f"'{type(value).__name__}' object has no attribute '{asked}'") from None
    renamed = dict(training="train") | (dict(input="indices") if name == "embedding" else {})
    given = {renamed.get(key, key): value for key, value in given.items() if value is not None}
    options = signatures("methods" if name in METHODS else "functional", name)
    names = [p.name for p in options[-1].parameters] if options else ()
    given = {key: given[key] for key in names if key in given and key != "reduction"}  # C gets a number for its name
    required = {p.name for p in options[-1].parameters if not p.optional} if options else {""}
    if required <= set(given):
        count = next((i for i, (key, wanted) in enumerate(zip(given, names, strict=False)) if key != wanted), len(given))
        first = list(given.values())[:count]
        bound_arguments(options, first, {key: given[key] for key in list(given)[count:]})
    return GENUINE


def bound_by_python(function, args, kwargs):
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def without_table(function, name, mistake):
    """Python's own words, for a function that PyTorch also writes in Python; only the name must be the public one."""
    if mistake is None:
        raise TypeError(f"{name}(): unsupported arguments") from None
    if is_binding(mistake):
        raise TypeError(re.sub(r"^[\w.<>]+\(\)", f"{name}()", str(mistake))) from None
    return GENUINE


def is_binding(mistake):
    """Whether Python refused the call itself: then no frame of the function is in the traceback."""
    if not isinstance(mistake, TypeError):
        return False
    place = mistake.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    code = place.tb_frame.f_code
    return place.tb_frame.f_globals is GUARDED or code is by_name.__code__ or code.co_name == "compile_and_call"


def called_by_name(function, receiver, bound):
    """Call with the names that PyTorch knows the arguments by, and write the result into `out=` where the function cannot."""
    from gradrepl.engine.out import into

    parameters = inspect.signature(function, follow_wrapped=False).parameters
    if getattr(function, "declaration", None) is not None:
        parameters = function.declaration.parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    out = None if "out" in parameters or takes_all else bound.pop("out", None)
    places = list(parameters)[len(receiver) :]
    named = {}
    for place, (name, value) in enumerate(bound.items()):
        if name in parameters or takes_all or not place < len(places):
            named[name] = value
        else:
            named[places[place]] = value
    result = function(*receiver, **named)
    return result if out is None else into(out, result, function.__name__)


def flattened(values):
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from flattened(value)
        else:
            yield value


GUARDS: dict = {}  # key -> guard
GUARDED: dict = dict(  # the globals of all guards
    MISTAKES=MISTAKES,
    MISSING=MISSING,
    GENUINE=GENUINE,
    by_name=by_name,
    trimmed=trimmed,
    mended=mended,
    compile_guard=compile_guard,
    tensor_of=tensor_of,
)
