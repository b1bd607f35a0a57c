"""What tensors look like: `repr(tensor)` to the character, and the options that steer it. Imports tensor, dtypes, modes and forward."""

import contextlib
import math
import textwrap

import numpy as np

from gradrepl.engine.dtypes import OF_ARRAY, Default
from gradrepl.engine.forward import tangent_of
from gradrepl.engine.modes import here
from gradrepl.engine.tensor import Tensor


class Options:
    """What `torch.set_printoptions` sets."""

    precision = 4
    threshold: float = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode: bool | None = None


NAMES = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
PROFILES = dict(
    default=dict(precision=4, threshold=1000, edgeitems=3, linewidth=80),
    short=dict(precision=2, threshold=1000, edgeitems=2, linewidth=80),
    full=dict(precision=4, threshold=math.inf, edgeitems=3, linewidth=80),
)


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Set how tensors are printed; `profile` is default, short or full. `sci_mode` is reset by every call."""
    given = dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth)
    chosen = PROFILES.get(profile, {}) | {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        setattr(Options, name, value)
    Options.sci_mode = sci_mode


def get_printoptions():
    return {name: getattr(Options, name) for name in NAMES}


@contextlib.contextmanager
def printoptions(**options):
    """Set options for the length of a `with` block."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


class Column:
    """How the numbers of a tensor are written, all to one width. `values` are those that will be shown."""

    def __init__(self, values):
        self.write, self.width = str, 1
        if values.dtype.kind == "f":
            self.choose(values[np.isfinite(values) & (values != 0)])
        elif values.size:
            self.width = max(map(len, map(str, values.ravel().tolist())))

    def choose(self, values):
        """Whole numbers as `3.`, others with `precision` places, or all with an exponent where their sizes differ too much."""
        self.write = whole
        if not values.size:
            return
        all_whole = bool((values == np.ceil(values)).all())
        if self.wants_exponent(np.abs(values).astype(np.float64)):
            self.write = f"{{:.{Options.precision}e}}".format
        elif not all_whole:
            self.write = f"{{:.{Options.precision}f}}".format
        self.width = max(map(len, map(self.write, values.ravel().tolist())))

    @staticmethod
    def wants_exponent(sizes):
        if Options.sci_mode is not None:
            return Options.sci_mode
        smallest, largest = sizes.min(), sizes.max()
        return largest > 1e8 or smallest < 1e-4 or largest / smallest > 1000

    def __call__(self, value):
        return self.write(value).rjust(self.width)


def whole(value):
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


class ComplexColumn:
    """Two columns: real parts, and imaginary parts with a sign and a j."""

    def __init__(self, values):
        self.real, self.imag = Column(values.real), Column(values.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value):
        imag = (self.imag(value.imag) + "j").lstrip()
        return self.real(value.real) + ("" if imag[0] in "+-" else "+") + imag


def numbers(array, indent):
    """The bracketed numbers of an array that is not empty; lines after the first are indented."""
    summarize = array.size > Options.threshold
    shown = edges(array) if summarize else array
    column = (ComplexColumn if array.dtype.kind == "c" else Column)(shown)
    return nested(array, indent, summarize, column)


def edges(array):
    """The values that a summary shows."""
    kept = Options.edgeitems
    if not kept and array.ndim > 1:
        return array[:0]
    for axis, n in enumerate(array.shape):
        if kept and n > 2 * kept:
            array = np.take(array, [*range(kept), *range(n - kept, n)], axis)
    return array


def nested(array, indent, summarize, column):
    if not array.ndim:
        return column(array.item())
    if array.ndim == 1:
        return row(array, indent, summarize, column)
    rows = [nested(part, indent + 1, summarize, column) if part is not None else "..." for part in parts(array, summarize)]
    return "[" + (",\n" + "\n" * (array.ndim - 2) + " " * (indent + 1)).join(rows) + "]"


def row(array, indent, summarize, column):
    if summarize and not Options.edgeitems:
        return "[...]"
    items = [column(value.item()) if value is not None else " ..." for value in parts(array, summarize)]
    a_line = max(1, (Options.linewidth - indent) // (column.width + 2))
    lines = [", ".join(items[i : i + a_line]) for i in range(0, len(items), a_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def parts(array, summarize):
    """What stands along the first axis; None for what a summary leaves out."""
    kept = Options.edgeitems
    if summarize and len(array) > 2 * kept:
        return [*array[:kept], None, *array[len(array) - kept :]]
    return list(array)


def notes(tensor):
    """What follows the numbers: size, dtype, and the place in the graph."""
    array = tensor.array
    if array.size == 0:
        if array.ndim != 1:
            yield f"size={array.shape}"
        if array.dtype != Default.float:
            yield f"dtype={OF_ARRAY[array.dtype]}"
    else:
        if not Options.edgeitems:
            yield f"size={array.shape}"
        if array.dtype not in (Default.float, Default.complex, np.int64, np.bool_):
            yield f"dtype={OF_ARRAY[array.dtype]}"
    try:
        function = tensor.grad_fn
    except RuntimeError:  # a view that may not be rebuilt
        yield "grad_fn=<Invalid>"
        return
    if function is not None:
        yield f"grad_fn=<{type(function).__name__}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"
    tangent = tangent_of(tensor)
    if tangent is not None:
        yield f"tangent={tangent}"


def closed(text, suffixes, indent):
    """The text with its notes and the closing bracket; a note that does not fit starts a line."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        fits = length + len(suffix) + 2 <= Options.linewidth
        text += f", {suffix}" if fits else ",\n" + " " * indent + suffix
        length = length + len(suffix) + 2 if fits else indent + len(suffix)
    return text + ")"


PLAIN = {"torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"}  # printed as `tensor(…)`; others show their own name


def tensor_text(tensor, contents=None):
    """`repr` of a tensor. `contents` stands for the numbers where given."""
    kind = type(tensor)
    prefix = "tensor(" if f"{kind.__module__}.{kind.__name__}" in PLAIN else f"{kind.__name__}("
    if contents is None:
        contents = numbers(tensor.array, len(prefix)) if tensor.array.size else "[]"
    return closed(prefix + contents, notes(tensor), len(prefix))


def __repr__(self, *, tensor_contents=None):
    inside = here.transforms or type(self.array) is not np.ndarray
    return levelled_text(self) if inside else tensor_text(self, tensor_contents)


def levelled_text(tensor):
    """What a function transformed by torch.func sees of its tensors: a wrapper for every transform that concerns them."""
    tracked = here.transforms > here.mapping and (tensor.needs_grad or here.run is not None)
    wrappers, mapped = {}, {level for level, *_ in here.batches}
    while type(tensor.array) is not np.ndarray:
        wrappers[tensor.level] = f"BatchedTensor(lvl={tensor.level}, bdim={tensor.bdim}, value="
        tensor = tensor.value
    if tracked:
        tensor = tensor.detach()
        wrappers |= {level: f"GradTrackingTensor(lvl={level}, value=" for level in range(1, here.transforms + 1) if level not in mapped}
    text = tensor_text(tensor)
    for level in sorted(wrappers):
        text = wrappers[level] + "\n" + textwrap.indent(text, "    ") + "\n)"
    return text


def __format__(self, spec):
    if not self.array.ndim and type(self.array) is not np.ndarray:
        return self.item()
    if not self.array.ndim and type(self) is Tensor:
        return self.array.item().__format__(spec)
    return object.__format__(self, spec)


for method in (__repr__, __format__):
    setattr(Tensor, method.__name__, method)
