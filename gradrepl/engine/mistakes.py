"""What is made of a public call that failed: its result by PyTorch's names, or PyTorch's error.

Imports signatures, subclasses, out and what they stand on.

Read when the first call fails.
"""

import inspect
import re

import numpy as np

from gradrepl.engine.advice import warn_once
from gradrepl.engine.arguments import GENUINE, GUARDED, GUARDS, by_name, flattened
from gradrepl.engine.dtypes import OF_PYTHON
from gradrepl.engine.out import into
from gradrepl.engine.promotion import NUMBERS, fitting
from gradrepl.engine.signatures import bound_arguments, is_number, is_tensors, signatures
from gradrepl.engine.subclasses import handle_torch_function, has_own_torch_function
from gradrepl.engine.tensor import Tensor, tensor_of


def mended(function, home, name, args, kwargs, mistake):
    """The result of a call that only Python refused, or GENUINE, or PyTorch's error for wrong arguments."""
    if getattr(mistake, "of_a_mode", False):
        return GENUINE
    everything = list(flattened((*args, *kwargs.values())))
    if any(map(has_own_torch_function, everything)):
        return handle_torch_function(GUARDS[f"{home}_{name}"], everything, *args, **kwargs)
    if type(mistake) is ValueError and "broadcast" in str(mistake):  # NumPy's words for shapes that do not go together
        fitting(*[x.array for x in everything if isinstance(x, Tensor)])
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
    converted = {p.name: CONVERSIONS[p.type](bound[p.name]) for p in signature.parameters if is_converted(p, bound.get(p.name))}
    if mistake is not None and not is_binding(mistake) and not converted and not signature.hidden:
        return GENUINE
    if signature.hidden:
        warn_of_overload(signature, options)
    return called_by_name(function, args[: len(args) - len(given)], bound | converted, signature)


def warn_of_overload(signature, options):
    """PyTorch's warning for a spelling that it only still understands."""
    better = "".join(f"\n\t{option.name}{option}" for option in options if not option.hidden)
    text = f"This overload of {signature.name} is deprecated:\n\t{signature.name}{signature}\n"
    warn_once(f"{text}Consider using one of the following signatures instead:{better}", "torch/csrc/utils/python_arg_parser.cpp:1841")


def verified(function, home, name, args, kwargs):
    """The result of a call with a flag that is neither True nor False: PyTorch refuses it unless it is itself written in Python."""
    if options := signatures(home, name):
        bound_arguments(options, args[home == "methods" :], kwargs)
    return function(*args, **kwargs)


# what PyTorch makes of arguments that may stand for what a parameter is: numbers for tensors, 0-d tensors for numbers, float for float32
CONVERSIONS = dict(
    Tensor=lambda number: tensor_of(np.asarray(number, NUMBERS.get(type(number)))),
    **dict.fromkeys(("Scalar", "double", "int64_t", "SymInt"), lambda tensor: tensor.item()),
    ScalarType=OF_PYTHON.__getitem__,
)


def is_converted(parameter, value):
    if parameter.type == "Tensor":
        return is_number(value)
    return parameter.type in CONVERSIONS and isinstance(value, type if parameter.type == "ScalarType" else Tensor)


VARIADIC = set("atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod chain_matmul meshgrid".split())


def check_tensors(name, args):
    """The functions of any number of tensors hand them on as one list."""
    if name in VARIADIC:
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
    if mistake is None or is_binding(mistake) or isinstance(mistake, ValueError):
        return without_table(function, name, mistake)
    given = bound_by_python(function, args, kwargs)
    check_asked(name, list(given.values()))
    options = signatures("methods" if name in METHODS else "functional", name)
    if options:
        check_passed_on(options, passed_on(name, given, options[-1]))
    return GENUINE


def check_asked(name, values):
    """The attribute error of an object that is asked for a tensor's method."""
    if name not in ASKS and name not in METHODS:
        return
    asked = ASKS.get(name, name)
    for value in values[: 2 if asked == "size" else 1]:
        if not isinstance(value, Tensor):
            raise AttributeError(f"'{type(value).__name__}' object has no attribute '{asked}'") from None


def passed_on(name, given, option):
    """The arguments by C's names, in C's order. C gets a number for the name of a reduction, so that is left out."""
    renamed = dict(training="train") | (dict(input="indices") if name == "embedding" else {})
    given = {renamed.get(key, key): value for key, value in given.items() if value is not None and key != "reduction"}
    return {p.name: given[p.name] for p in option.parameters if p.name in given}


def check_passed_on(options, given):
    """PyTorch's error if C would refuse these arguments; nothing if not all that it needs are known here."""
    parameters = options[-1].parameters
    if not {p.name for p in parameters if not p.optional} <= set(given):
        return
    names, values = list(given), list(given.values())
    count = next((i for i, p in enumerate(parameters) if i == len(names) or p.name != names[i]), len(names))
    bound_arguments(options, values[:count], dict(zip(names[count:], values[count:], strict=True)))


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
    return place.tb_frame.f_globals is GUARDED or code in (by_name.__code__, verified.__code__) or code.co_name == "compile_and_call"


def called_by_name(function, receiver, bound, signature):
    """Call with the names that PyTorch knows the arguments by, and write the result into `out=` where the function cannot."""
    parameters = inspect.signature(function, follow_wrapped=False).parameters
    if getattr(function, "declaration", None) is not None:
        parameters = function.declaration.parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    out = None if "out" in parameters or takes_all else bound.pop("out", None)
    if not takes_all:
        bound = {place: bound[name] for name, place in renamed(signature, list(parameters)[len(receiver) :]).items() if name in bound}
    result = function(*receiver, **bound)
    return result if out is None else into(out, result, function.__name__)


def renamed(signature, places):
    """PyTorch's name of each parameter -> the function's own: those with names of their own go by their places."""
    theirs = [p.name for p in signature.parameters if p.name != "out"]
    own = iter([place for place in places if place not in theirs])
    return {name: name if name in places else next(own, name) for name in theirs} | {"out": "out"}
