"""PyTorch's Python signatures, and what it says when arguments fit none of them. Imports dtypes and tensor.

`signatures.txt` holds one signature a line, in the order in which PyTorch tries them, after the module it belongs to:
`functions sum(Tensor input, *, ScalarType? dtype=None)`. It is read when the first error is to be explained.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np

from gradrepl.engine.dtypes import Size, device, dtype, finfo, iinfo, layout, memory_format
from gradrepl.engine.tensor import Tensor

# how each C++ type is called in messages
TYPE_NAMES = dict(
    Tensor="Tensor", Scalar="Number", int64_t="int", SymInt="int", double="float", complex="complex", TensorList="tuple of Tensors",
    IndexList="tuple of Tensors", IntArrayRef="tuple of ints", SymIntArrayRef="tuple of ints", ArrayRef="tuple of floats",
    Generator="torch.Generator", bool="bool", Storage="torch.Storage", PyObject="object", ScalarType="torch.dtype",
    Layout="torch.layout", MemoryFormat="torch.memory_format", QScheme="torch.qscheme", Device="torch.device", Dimname="name",
    DimnameList="tuple of names", ScalarList="tuple of Scalars", Stream="torch.Stream",
)  # fmt: skip
TYPE_NAMES |= {
    "c10::string_view": "str",
    "std::string": "str",
    "ArrayRef<double>": "tuple of floats",
    "ArrayRef<Scalar>": "tuple of Scalars",
}
NUMPY_NAMES = dict(dim=["axis"], keepdim=["keepdims"], input=["x", "a", "x1"], other=["x2"])
NUMBERS_AS_TENSORS = re.compile(r"_?(add|div|divide|mul|multiply|sub|subtract|true_divide|floor_divide|to|copy|to_copy|conj)_?(out)?$")


class Unfit(Exception):
    """Arguments do not fit a signature; the text is PyTorch's."""


def type_name(value):
    """A type as C sees it: types written in C carry their module."""
    kind = type(value)
    written_in_c = not kind.__flags__ & 1 << 9 or kind in (Size, device, dtype, finfo, iinfo, layout, memory_format)
    if kind.__module__ == "builtins" or not written_in_c:
        return "torch._C.Generator" if kind.__name__ == "Generator" and kind.__module__ == "torch._C" else kind.__name__
    return f"{kind.__module__}.{kind.__name__}"


# ---- what may stand for what


def is_number(value):
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def is_int(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_plain_scalar(value):
    """A 0-d tensor may stand for a number if no gradient would be lost."""
    return isinstance(value, Tensor) and not value.array.ndim and not value.requires_grad


def is_index(value):
    if is_int(value):
        return True
    if isinstance(value, Tensor):
        return is_plain_scalar(value) and value.array.dtype.kind in "iu"
    return hasattr(type(value), "__index__") and not isinstance(value, (bool, np.ndarray, np.bool_))


def is_generator(value):
    return type(value).__name__ == "Generator" and hasattr(value, "manual_seed")


CHECKS = dict(
    Tensor=lambda value: isinstance(value, Tensor),
    Scalar=lambda value: is_number(value) or is_plain_scalar(value),
    int64_t=is_index,
    SymInt=is_index,
    double=lambda value: isinstance(value, (int, float, np.floating, np.integer)) or is_plain_scalar(value),
    complex=lambda value: is_number(value) or is_plain_scalar(value),
    Generator=is_generator,
    bool=lambda value: isinstance(value, bool),
    PyObject=lambda value: True,
    ScalarType=lambda value: isinstance(value, dtype) or any(value is kind for kind in (float, int, bool, complex)),
    Layout=lambda value: isinstance(value, layout),
    MemoryFormat=lambda value: isinstance(value, memory_format),
    Device=lambda value: isinstance(value, (str, device)) or is_int(value),
    Dimname=lambda value: value is None or isinstance(value, str),
)
CHECKS |= {"c10::string_view": lambda value: isinstance(value, str), "std::string": lambda value: isinstance(value, str)}
FIRST = {  # of a list only the first item is looked at; the rest is unpacked later
    "IntArrayRef": is_index, "SymIntArrayRef": is_index, "ArrayRef<double>": CHECKS["complex"], "ArrayRef": CHECKS["complex"],
    "DimnameList": CHECKS["Dimname"], "IndexList": lambda value: value is None or isinstance(value, Tensor),
}  # fmt: skip
ALL = {"ScalarList": is_number, "ArrayRef<Scalar>": is_number}

PARAMETER = re.compile(r"(?P<type>[\w:<>]+)(?:\[(?P<size>\d*)\])?(?P<none>\?)? (?P<name>\w+)(?:=(?P<default>.*))?$")


class Parameter:
    """One parameter of a signature."""

    def __init__(self, text, keyword_only, function):
        found = PARAMETER.match(text)
        self.type, self.name, self.default, self.keyword_only = found["type"], found["name"], found["default"], keyword_only
        self.optional, self.allow_none = self.default is not None, bool(found["none"]) or self.default == "None"
        self.size = int(found["size"] or 0)
        self.type_name = TYPE_NAMES[self.type]
        self.numbers_too = self.type == "Tensor" and bool(NUMBERS_AS_TENSORS.match(function))

    def __str__(self):
        return f"{self.type_name} {self.name}" + (f" = {self.default}" if self.optional else "")

    def accepts(self, value, place):
        if self.numbers_too and is_number(value):
            return True
        if self.type in CHECKS:
            return CHECKS[self.type](value)
        if self.type == "TensorList":
            return is_tensors(value, place)
        if isinstance(value, (tuple, list)):
            items = value[:1] if self.type in FIRST else value
            return all(map(FIRST.get(self.type) or ALL[self.type], items))
        return self.size > 0 and self.type in ("IntArrayRef", "SymIntArrayRef") and is_index(value)

    def check_items(self, value, function):
        """The items of a list of ints, after the first."""
        for i, item in enumerate(value):
            if not (is_index(item) or isinstance(item, bool)):
                raise Unfit(
                    f"{function}(): argument '{self.name}' failed to unpack the object at pos {i + 1} with error \"type must be "
                    f'{self.type_name},but got {type_name(item)}"'
                )


def is_tensors(value, place):
    if not isinstance(value, (tuple, list)):
        return False
    for i, item in enumerate(value):
        if not isinstance(item, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument {place}, but got {type_name(item)}")
    return True


def split_parameters(text):
    """`a, b={1, 2}` at the commas that are not inside braces."""
    return [part for part in re.split(r", (?![^{]*\})", text) if part]


class Signature:
    """One way to call a function."""

    def __init__(self, text):
        self.name, rest = text.split("(", 1)
        rest, _, mark = rest.rpartition(")")
        self.hidden, texts = bool(mark), split_parameters(rest)
        bar = texts.index("*") if "*" in texts else len(texts)
        self.parameters = [Parameter(t, i > bar, self.name) for i, t in enumerate(texts) if t != "*"]
        self.positional = bar
        self.required = len([p for p in self.parameters if not p.optional])

    def __str__(self):
        texts = [str(p) for p in self.parameters]
        if self.positional < len(texts):
            texts.insert(self.positional, "*")
        return f"({', '.join(texts)})"

    def bind(self, args, kwargs):
        """Parameter name -> value; raises Unfit with PyTorch's text for a function that has this signature only."""
        bound, left, place = {}, dict(kwargs), 0
        spreads = self.positional == 1 and self.parameters[0].type in ("IntArrayRef", "SymIntArrayRef")
        if len(args) > self.positional and not spreads:
            raise Unfit(self.too_many(len(args)))
        for i, parameter in enumerate(self.parameters):
            given, by_name = place < len(args), None
            if given and parameter.keyword_only:
                raise Unfit(self.too_many(len(args)))
            if not given:
                by_name = next((n for n in (parameter.name, *NUMPY_NAMES.get(parameter.name, ())) if n in left), None)
            value = args[place] if given else left.pop(by_name, None)
            if not given and by_name is None:
                if not parameter.optional and not (parameter.allow_none and parameter.default is not None):
                    raise Unfit(self.missing(i))
            elif value is None and parameter.allow_none or parameter.accepts(value, i):
                bound[parameter.name] = value
            elif spreads and place == 0 and given and is_index(args[0]):
                bound[parameter.name], place = args, len(args) - 1
            elif len(args) > self.positional:
                raise Unfit(self.too_many(len(args)))
            else:
                raise Unfit(self.wrong(parameter, value, place if given else None))
            place += given
        if left:
            raise Unfit(self.unexpected(left, len(args)))
        return bound

    def check_items(self, bound):
        for parameter in self.parameters:
            value = bound.get(parameter.name)
            if parameter.type in ("IntArrayRef", "SymIntArrayRef") and isinstance(value, (tuple, list)):
                parameter.check_items(value, self.name)

    def too_many(self, given):
        fewest = (
            len([p for p in self.parameters[: self.positional] if not p.optional]) if self.required <= self.positional else self.required
        )
        if fewest != self.positional:
            return f"{self.name}() takes from {fewest} to {self.positional} positional arguments but {given} were given"
        plural, was = "" if self.positional == 1 else "s", "was" if given == 1 else "were"
        return f"{self.name}() takes {self.positional} positional argument{plural} but {given} {was} given"

    def missing(self, start):
        names = [f'"{p.name}"' for p in self.parameters[start:] if not p.optional]
        return f"{self.name}() missing {len(names)} required positional argument{'s' if len(names) == 1 else ''}: {', '.join(names)}"

    def wrong(self, parameter, value, place):
        where = "" if place is None else f" (position {place + 1})"
        if isinstance(value, (tuple, list)) and value and parameter.type in ("IntArrayRef", "SymIntArrayRef"):
            return (
                f"{self.name}(): argument '{parameter.name}'{where} must be {parameter.type_name}, but found element of type "
                f"{type_name(value[0])} at pos 0"
            )
        return f"{self.name}(): argument '{parameter.name}'{where} must be {parameter.type_name}, not {type_name(value)}"

    def unexpected(self, names, given):
        for name in names:
            place = next((i for i, p in enumerate(self.parameters) if p.name == name), None)
            if place is None:
                return f"{self.name}() got an unexpected keyword argument '{name}'"
            if place < given:
                return f"{self.name}() got multiple values for argument '{name}'"
        return "invalid keyword arguments"


@cache
def table():
    """(home, name) -> the signatures, in the order in which they are tried."""
    found: dict = {}
    for line in Path(__file__).with_name("signatures.txt").read_text().splitlines():
        home, text = line.split(" ", 1)
        found.setdefault((home, text.partition("(")[0]), []).append(text)
    return found


RENAMED = dict(
    logsigmoid="log_sigmoid", cross_entropy="cross_entropy_loss", nll_loss="nll_loss_nd"
)  # nn.functional's name -> the function's


@cache
def signatures(home, name):
    """The ways to call a function; nn.functional has those of torch._C._nn and of torch."""
    if home == "functional":
        name = RENAMED.get(name, name)
        return signatures("nn", name) or signatures("functions", name)
    found = [Signature(text) for text in table().get((home, name), ())]
    return sorted(found, key=lambda signature: signature.hidden)  # deprecated ones are tried last


def bound_arguments(options, args, kwargs):
    """(the first signature that the arguments fit, what they mean under it); TypeError with PyTorch's text if there is none."""
    try:
        return fitting(options, args, kwargs)
    except Unfit as problem:
        raise TypeError(str(problem)) from None


def fitting(options, args, kwargs):
    if len(options) == 1:
        return checked(options[0], options[0].bind(args, kwargs))
    for signature in options:
        try:
            bound = signature.bind(args, kwargs)
        except Unfit:
            continue
        return checked(signature, bound)
    count, shown = len(args) + len(kwargs), [s for s in options if not s.hidden]
    plausible = [s for s in shown if s.required <= count <= len(s.parameters)]
    if len(plausible) == 1:
        plausible[0].bind(args, kwargs)
    raise Unfit(invalid_combination(shown, args, kwargs))


def checked(signature, bound):
    signature.check_items(bound)
    return signature, bound


# ---- "received an invalid combination of arguments"


class Option:
    """A signature as the message's own parser reads it back from its text: split at commas, a type before the last space.

    So `Tensor out = None` is an argument `None` of type `Tensor out =`, and `*` is one of type `*`.
    """

    def __init__(self, text):
        self.items = [item.rpartition(" ")[::2] if " " in item else (item, item) for item in text[1:-1].split(", ")]

    def counts(self, args, kwargs):
        return len(args) + len(kwargs) == len(self.items)

    def unmatched(self, kwargs):
        names = [name for _, name in self.items[max(0, len(self.items) - len(kwargs)) :]]
        return [name for name in kwargs if name not in names]

    def described(self, args, kwargs):
        """Each argument's type, between exclamation marks where it does not match."""
        texts = []
        for i, (kind, name) in enumerate(self.items):
            value = args[i] if i < len(args) else kwargs.get(name)
            matches = type_name(value) in {"float": ("float", "int"), "int": ("int", "long")}.get(kind, (kind,))
            text = (f"{name}=" if i >= len(args) else "") + listed(value)
            texts.append(text if matches else f"!{text}!")
        return "(" + ", ".join(texts) + ("" if args or not texts else ", ") + ")"


def listed(value):
    if not isinstance(value, (tuple, list)):
        return type_name(value)
    inside = ", ".join(map(type_name, value))
    if isinstance(value, tuple):
        return f"{type_name(value)} of ({inside}{',' * (len(value) == 1)})"
    return f"{type_name(value)} of [{inside}]"


def given_types(args, kwargs):
    texts = [type_name(value) for value in args] + [f"{name}={type_name(value)}" for name, value in kwargs.items()]
    return "(" + ", ".join(texts) + ("" if args or not texts else ", ") + ")"


def invalid_combination(shown, args, kwargs):
    kwargs = dict(reversed(list(kwargs.items())))  # PyTorch's map hands small sets of keywords out in this order
    text = f"{shown[0].name}() received an invalid combination of arguments - "
    if len(shown) == 1:
        option = Option(str(shown[0]))
        unmatched = option.unmatched(kwargs)
        if unmatched:
            return text + "got unrecognized keyword arguments: " + ", ".join(unmatched)
        described = option.described(args, kwargs) if option.counts(args, kwargs) else given_types(args, kwargs)
        return f"{text}got {described}, but expected {shown[0]}"
    text += f"got {given_types(args, kwargs)}, but expected one of:\n"
    return text + "".join(f" * {signature}\n{reason(Option(str(signature)), args, kwargs)}" for signature in shown)


def reason(option, args, kwargs):
    if not option.counts(args, kwargs):
        return ""
    unmatched = option.unmatched(kwargs)
    if unmatched:
        return f"      didn't match because some of the keywords were incorrect: {', '.join(unmatched)}\n"
    return f"      didn't match because some of the arguments have invalid types: {option.described(args, kwargs)}\n"
