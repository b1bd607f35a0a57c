"""The text of the two functions that run a node backwards, written once per node class from its formulas.

`apply` runs them on tensors, so that it can be recorded; `run` runs their array form, where nobody records: `grad * other` then is one call
of NumPy. A formula has an array form when everything it calls is an op or has one itself (`arrays`). Imports tensor, names and recorder.
"""

import ast

import numpy as np

from gradrepl.engine.names import NAMES
from gradrepl.engine.recorder import Array, Arrays, Maybe
from gradrepl.engine.tensor import Tensor, tensor_of

APPLY = """\
def apply(_node, grads, _mask):
    {saved}_node._unpack()
    grad = grads[0]
    return ({gradients})
"""
RUN = """\
def run(_node, grads, _ends, _keep):
    {read}
    grad = grads[0]
    {mask}
    _answers = ({gradients})
    {release}
    return _answers
"""
MASK = "_mask = [end is not None for end in _ends]"
# a node without versions is read through its hooks, or refuses
READ = """\
if _node.version0 is None:
        {saved} = _node._unpack()
        {conversions}
    else:
        {loads}
"""
CHECK = """\
if isinstance({0}, Tensor):
            if {0}.counter.version != _node.version{1}: _node._unpack()
            {0} = {0}.array
"""
CHECK_OWN = """\
if _node.counter{2}.version != _node.version{1}: _node._unpack()
"""
CHECK_KEPT = """\
if [x is not None and x.counter.version for x in {0}] != _node.version{1}: _node._unpack()
"""
CHECK_LIST = """\
if {0} is not None:
            if [x.counter.version for x in {0}] != _node.version{1}: _node._unpack()
            {0} = [x.array for x in {0}]
"""
TENSORS = Tensor, Array, Maybe, list
ARRAYS: dict = {}  # a function on tensors -> the same on arrays


def arrays(function):
    """Decorate the array form of a formula or of a method: `@arrays(zeros_like)`."""

    def add(form):
        ARRAYS[function] = form
        NAMES[f"{function.__name__}_arrays"] = form
        return form

    return add


def array_of(value):
    if isinstance(value, list):
        return [x.array for x in value]
    return value.array if isinstance(value, Tensor) else value


class Untranslatable(Exception):
    """A formula that has no array form."""


class ArrayForm(ast.NodeTransformer):
    """Turns a formula on tensors into the same on arrays."""

    def __init__(self, local):
        self.local = local

    def visit_Call(self, node):
        call = self.generic_visit(node)
        if isinstance(call.func, ast.Name):
            name = call.func.id
            if name not in self.local and name in NAMES:
                call.func = ast.Name(form_of(NAMES[name]))
        elif not (isinstance(call.func.value, ast.Name) and call.func.value.id == "np"):
            method = getattr(Tensor, call.func.attr, None)
            call.args.insert(0, call.func.value)
            call.func = ast.Name(form_of(method))
        return call

    def visit_Attribute(self, node):
        owner = self.visit(node.value)
        if node.attr == "array":
            return owner
        if isinstance(owner, ast.Name) and owner.id == "np" or node.attr in ("shape", "ndim") or self.is_called(node):
            return ast.Attribute(owner, node.attr, node.ctx)
        raise Untranslatable(node.attr)

    def visit_Compare(self, node):
        return self.generic_visit(node)

    def is_called(self, node):
        return getattr(node, "called", False)

    def translated(self, text):
        tree = ast.parse(text, mode="eval")
        for call in ast.walk(tree):
            if isinstance(call, ast.Call):
                call.func.called = True
        return ast.unparse(ast.fix_missing_locations(self.visit(tree)))


class ScalarForm(ast.NodeTransformer):
    """Writes arithmetic with numbers as PyTorch's C++ records it: `2 * grad` is a MulBackward1, not Python's MulBackward0."""

    def __init__(self, numbers):
        self.numbers = numbers

    def is_number(self, node):
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        if isinstance(node, ast.Name):
            return node.id in self.numbers or isinstance(NAMES.get(node.id), float)
        if isinstance(node, ast.UnaryOp):
            return self.is_number(node.operand)
        return isinstance(node, ast.BinOp) and self.is_number(node.left) and self.is_number(node.right)

    def visit_BinOp(self, node):
        left, right = self.is_number(node.left), self.is_number(node.right)
        node = self.generic_visit(node)
        if left == right or type(node.op) not in SCALAR_OPS:
            return node
        after, before = SCALAR_OPS[type(node.op)]
        tensor, number = (node.right, node.left) if left else (node.left, node.right)
        return ast.Call(ast.Name(before if left else after), [tensor, number], [])

    def translated(self, text):
        return ast.unparse(ast.fix_missing_locations(self.visit(ast.parse(text, mode="eval"))))


SCALAR_OPS = {
    ast.Add: ("add_scalar", "add_scalar"),
    ast.Sub: ("sub_scalar", "subtracted_from"),
    ast.Mult: ("mul_scalar", "mul_scalar"),
    ast.Div: ("div_scalar", "divided_into"),
}  # tensor op number, number op tensor


def form_of(function):
    """The name of the array form of something a formula calls."""
    while hasattr(function, "__wrapped__"):  # the guard of what users call
        function = function.__wrapped__
    if function in ARRAYS:
        return f"{function.__name__}_arrays"
    declaration = getattr(function, "declaration", None)
    if declaration is None:
        raise Untranslatable(function)
    return f"{declaration.name}_forward"


def indented(text, depth):
    return text.rstrip().replace("\n", "\n" + "    " * depth)


class Backwards:
    """The pieces of the two functions of one declaration."""

    def __init__(self, op):
        self.op, self.saves = op, op.saves
        self.saved = "".join(f"{s}, " for s in self.saves)

    @property
    def apply(self):
        saved = f"{self.saved}= " if self.saves else ""
        return APPLY.format(saved=saved, gradients=self.gradients(self.recorded))

    @property
    def recorded(self):
        """The formulas as they are recorded: arithmetic with numbers has node names of its own."""
        tensors = ("grad", "grads", *self.op.inputs, *self.op.outputs)
        numbers = [p for p in (*self.op.parameters, *self.saves) if p not in tensors and self.op.kinds.get(p) not in TENSORS]
        return {inputs: ScalarForm(numbers).translated(text) for inputs, text in self.op.texts.items()}

    @property
    def run(self):
        """The array form, or None."""
        try:
            texts = {inputs: ArrayForm(self.saves).translated(text) for inputs, text in self.op.texts.items()}
        except Untranslatable:
            return None
        joint = list in self.op.kinds.values() or any([", " in inputs for inputs in texts])
        gradients = self.gradients(texts, "_mask[{}]" if joint else "_ends[{}] is not None")
        return RUN.format(read=self.read, mask=MASK if joint else "pass", gradients=gradients, release=self.release)

    def gradients(self, texts, asked="_mask[{}]"):
        """The expressions for all the edges; `asked` tells whether the gradient of an edge is asked for."""
        pieces, edge = [], 0
        for inputs, text in texts.items():
            names = inputs.split(", ")
            if self.op.kinds[names[0]] is list:
                pieces.append(self.several(text, f"_mask[{edge}:]"))
            elif len(names) > 1:
                pieces.append(self.several(text, f"_mask[{edge}:{edge + len(names)}]"))
            else:
                pieces.append(f"({text}) if {asked.format(edge)} else None")
            edge += len(names)
        return "".join(f"{piece}, " for piece in pieces)

    def several(self, text, mask):
        if "grad_input_mask" in text:
            text = text.replace("grad_input_mask", f"[bool(wanted) for wanted in {mask}]")
        return f"*(({text}) if any({mask}) else [None] * len({mask}))"

    @property
    def read(self):
        """How the arrays of what was saved are read."""
        places = self.op.places()
        checked, loads = places["checked_places"], []
        texts = {list: CHECK_LIST, Arrays: CHECK_KEPT}
        for place, saved in enumerate(self.saves):
            loads.append(f"{saved} = _node.saved{place}")
            if place in checked:
                text = CHECK_OWN if place in places["own_outputs"] else texts.get(self.op.kinds.get(saved), CHECK)
                loads.append(text.format(saved, checked.index(place), place).rstrip())
        if not checked:
            return "; ".join(loads) or "pass"
        arrays = [self.saves[place] for place in checked if self.op.kinds.get(self.saves[place]) is not Arrays]
        conversions = "; ".join(f"{saved} = array_of({saved})" for saved in arrays) or "pass"
        return READ.format(saved=self.saved, loads="\n        ".join(loads), conversions=conversions).strip()

    @property
    def release(self):
        checked = self.op.places()["checked_places"]
        if not checked:
            return "pass"
        gone = "".join(f"; _node.saved{i} = {s} if {s} is None else RELEASED" for i, s in enumerate(self.saves) if i in checked)
        return f"if not _keep: _node.version0 = None{gone}"


def run_wrapped(node, grads, ends, keep):
    """What `run` is where formulas have no array form: tensors outside the graph, and the formulas on tensors."""
    answers = node.apply([None if g is None else tensor_of(g) for g in grads], [end is not None for end in ends])
    if not keep:
        node._release()
    return [None if answer is None else answer.array for answer in answers]


NAMES.update(array_of=array_of, np=np)
