"""Modes that see every operation below autograd, and may answer it. Imports execution and below.

While a mode is on, names under which recorders call forwards stand for others, which ask the mode; and backwards run on tensors, so that
their operations are seen as well. While none is on, nothing is asked.
"""

import re
import sys
import threading
from functools import partial

import numpy as np

from gradrepl.engine.dtypes import OF_ARRAY, device, dtype
from gradrepl.engine.gradients import run_wrapped
from gradrepl.engine.modes import MAKERS
from gradrepl.engine.names import NAMES
from gradrepl.engine.tensor import Tensor, tensor_of

# ATen's names of the forms of an operation, where they are not "default": form -> nodes
FORMS = {
    "Tensor": "Add0 Bernoulli0 Clamp0 ClampMin1 ClampMax1 Copysign0 Div0 Eq1 Fill1 Fmod1 Frexp0 Ge1 Gt1 Index0 Ldexp0 Le1 Lerp1 Lt1 "
    "MaskedFill1 Mul0 Ne1 Remainder1 Slice0 Split0 Sub0 Rsub0 Xlogy0",
    "Scalar": "Add1 Copysign1 Div1 Eq0 Fill0 Fmod0 Ge0 Gt0 Le0 Lerp0 Lt0 MaskedFill0 Mul1 Ne0 Norm0 Pow2 Remainder0 Sub1 Rsub1",
    "Tensor_mode": "Div2",
    "Scalar_mode": "Div3",
    "int_Scalar": "IndexFill0",
    "int_Tensor": "IndexFill1",
    "dim": "Max0 Mean1 Median1 Nanmedian1 Min0 Squeeze1",
    "dims": "Squeeze2",
    "dim_int": "Prod1",
    "dim_IntList": "Sum1",
    "ScalarOpt_dim": "Norm1",
    "ScalarOpt_dtype": "Norm2",
    "ScalarOpt_dim_dtype": "Norm3",
    "Tensor_Tensor": "Pow1",
    "Tensor_Scalar": "Pow0",
    "decimals": "Round1",
    "src": "Scatter0",
    "value": "Scatter1",
    "two": "ScatterReduce0",
    "int": "Select0 Transpose0 Unbind0",
    "stable": "Sort1",
    "correction": "Std0 StdMean0 Var0 VarMean0",
    "self": "Where0",
}
FORM_OF = {node: form for form, nodes in FORMS.items() for node in nodes.split()}
STATE, LOCK = threading.local(), threading.Lock()
THREADS: set = set()  # those that have modes on
KEYWORDS = {"alpha", "beta", "dtype", "generator", "rounding_mode", "correction"}  # ATen takes them by name, and what follows them
WIDE = {"_softmax": [False], "_log_softmax": [False]}  # ATen's last arguments that a forward has not
RENAMED = {"copy_backwards": "copy"}
OF_SIZES = {"ones", "zeros", "empty", "rand", "randn", "full"}
OF_NUMBERS = {"arange", "eye", "linspace", "logspace"}
PRIVATE = {"softmax", "log_softmax", "to_copy", "cdist_forward", "pdist_forward", "weight_norm_interface", "embedding_bag", "ctc_loss"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
KEPT: dict = {}  # what stands in NAMES while no mode is on
METHODS: dict = {}  # and among the methods of Tensor
READING = {"detach": "detach", "item": "_local_scalar_dense", "__bool__": "_local_scalar_dense"}


def modes():
    """The modes of this thread, innermost last."""
    found = getattr(STATE, "modes", None)
    if found is None:
        found = STATE.modes = []
    return found


def push(mode, packets):
    """Put a mode on. `packets(name, form)` gives the object that stands for an operation."""
    with LOCK:
        if not KEPT:
            install(packets)
        THREADS.add(threading.get_ident())
    modes().append(mode)


def pop():
    mode = modes().pop()
    with LOCK:
        if not modes():
            THREADS.discard(threading.get_ident())
        if not THREADS:
            uninstall()
    return mode


def install(packets):
    names = [name for name, value in NAMES.items() if name.endswith("_forward") and hasattr(NAMES.get(name[:-8]), "declaration")]
    KEPT.update({name: NAMES[name] for name in names}, trace=NAMES["trace"])
    for name in names:
        NAMES[name] = standing_in(NAMES[name], NAMES[name[:-8]].declaration, packets)
    NAMES["trace"] = partial(traced, NAMES["trace"], packets)
    MAKERS.append(partial(made, packets))
    for name, called in READING.items():
        METHODS[name] = getattr(Tensor, name)
        setattr(Tensor, name, answering(METHODS[name], called, packets))


def uninstall():
    NAMES.update(KEPT)
    KEPT.clear()
    MAKERS.clear()
    while METHODS:
        setattr(Tensor, *METHODS.popitem())


def standing_in(forward, declaration, packets):
    """What is called instead of a forward, with arrays, and gives arrays."""
    node = re.sub(r"Backward(?=\d)", "", declaration.node_name or declaration.name)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"\d+$", "", node)).lower()
    name = f"_{words}" if words in PRIVATE else RENAMED.get(words, words)
    names, defaults = list(declaration.parameters), [p.default for p in declaration.parameters.values()]

    def ask(*args):
        if not modes():
            return forward(*args)
        form = FORM_OF.get(node, "default")
        if name in COMPARISONS or name == "fill":
            form = "Tensor" if isinstance(args[1], np.ndarray) else "Scalar"
        by_name = next((i for i, word in enumerate(names[: len(args)]) if word in KEYWORDS), len(args))
        given, last = [tensors(x) for x in args[:by_name]], by_name
        while last and not isinstance(given[last - 1], Tensor) and same(args[last - 1], defaults[last - 1]):
            last -= 1
        given[last:] = WIDE.get(name, ())
        named = {names[i]: tensors(args[i]) for i in range(by_name, len(args)) if args[i] is not None and not same(args[i], defaults[i])}
        in_place = sys._getframe(1).f_code.co_name.endswith("_")

        def run(func, *given, **named):
            if modes():
                return asked(func, given, named)
            taken = [given[i] if i < min(len(given), last) else named[names[i]] if names[i] in named else x for i, x in enumerate(args)]
            answer = forward(*[x if holds_tensors(args[i]) else plain(x) for i, x in enumerate(taken)])
            return tuple(map(tensors, answer)) if type(answer) is tuple else tensors(answer)

        return plain(asked(packets(name + "_" * in_place, form, run), given, named))

    return ask


def same(value, default):
    if type(value) in (list, tuple) and not value:
        return default in ((), [], None)
    return value is default or not isinstance(value, np.ndarray) and isinstance(value, type(default)) and value == default


def holds_tensors(value):
    """Whether a forward was called with tensors where others take arrays: what reads an index is."""
    return isinstance(value, Tensor) or type(value) in (list, tuple) and any(isinstance(x, Tensor) for x in value)


def made(packets, maker):
    """What is called instead of the maker of a factory."""
    name = maker.__name__

    def ask(*args, **kwargs):
        if not modes():
            return maker(*args, **kwargs)

        def run(func, *given, **named):
            return asked(func, given, named) if modes() else tensor_of(maker(*args, **kwargs))

        func = packets(name, "memory_format" if name == "empty" else "default", run)
        shown = args
        if name in OF_SIZES:
            sizes, *others = args if type(args[0]) in (list, tuple) else (args,)
            shown = list(sizes), *others
        place = {"device": device("cpu"), "pin_memory": False} if name in OF_SIZES | OF_NUMBERS else {}
        return plain(asked(func, shown, place))

    return ask


def answering(method, name, packets):
    """What is called instead of a method that only reads: detach, item."""

    def ask(self):
        if not modes():
            return method(self)
        return asked(packets(name, "default", lambda func, x: asked(func, (x,), {}) if modes() else method(x)), (self,), {})

    return ask


def asked(func, args, kwargs):
    """Ask the innermost mode, which is off meanwhile: what it calls in turn is for those further out."""
    mode = modes().pop()
    try:
        return mode.__torch_dispatch__(func, (), tuple(args), kwargs)
    except Exception as error:
        error.of_a_mode = True  # so that mistakes.py does not try again with better arguments
        raise
    finally:
        modes().append(mode)


def tensors(value):
    """Arrays as tensors; sizes and their like as lists."""
    if isinstance(value, np.ndarray | np.generic):
        return tensor_of(value)
    if isinstance(value, np.dtype):
        return OF_ARRAY[value]
    return [tensors(x) for x in value] if type(value) in (list, tuple) else value


def plain(value):
    """The way back: arrays for tensors, tuples for sizes."""
    if isinstance(value, Tensor | dtype):
        return value.array
    if type(value) not in (list, tuple):
        return value
    return tuple(value) if all([isinstance(x, int) for x in value]) else type(value)(map(plain, value))


# ---- backward


def traced(others, packets, arrive, step):
    """A backward begins: nodes run on tensors."""
    at_leaf, at_node = others(arrive, step)[:2] if others else (arrive, step)

    def leaf(leaf, grads, state):
        if modes() and state.accumulates and grads[0] is not None and not state.graph and leaf.rare.grad is None:
            func = packets("detach", "default", lambda func, x: asked(func, (x,), {}) if modes() else tensor_of(x.array))
            asked(func, [grads[0]], {})
        return at_leaf(leaf, grads, state)

    return leaf, at_node, run_wrapped
