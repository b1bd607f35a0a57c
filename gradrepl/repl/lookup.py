"""Finds what an expression means without running it: no property, no `__getattr__`, no operator of the user's. Imports facts only."""

import ast
import builtins
import inspect
import sys
import types
from typing import Any, NamedTuple

from gradrepl.repl.facts import is_tensor_type


class Known(NamedTuple):
    """An expression whose value is at hand."""

    value: Any


class OfType(NamedTuple):
    """An expression of which only the type is known: a property or a call that is not run."""

    kind: type


# read from the object: a slot, which runs no code
SLOTS = (types.MemberDescriptorType,)
# properties of a tensor that give a tensor
TENSORS = {"T", "mT", "H", "mH", "grad", "data", "real", "imag", "_base"}


def lookup(expression: str, names: dict[str, Any]) -> Known | OfType | None:
    """What the expression gives, as far as that is known without running it.

    >>> lookup("x.real", {"x": 1j})
    OfType(kind=<class 'object'>)
    >>> lookup("d['a'][0]", {"d": {"a": [5]}})
    Known(value=5)
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return resolve(tree.body, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def resolve(node: ast.expr, names: dict[str, Any]) -> Known | OfType | None:
    rule = RULES.get(type(node))
    return rule(node, names) if rule else None


def of_name(node: ast.Name, names):
    if node.id in names:
        return Known(names[node.id])
    return Known(getattr(builtins, node.id)) if hasattr(builtins, node.id) else None


def of_attribute(node: ast.Attribute, names):
    owner = resolve(node.value, names)
    return attribute(owner, node.attr) if owner else None


def of_subscript(node: ast.Subscript, names):
    """An item of a list, tuple or dict by a constant; of a tensor, a tensor."""
    owner = resolve(node.value, names)
    if owner is None:
        return None
    if is_tensor_type(type_of(owner)):
        return OfType(type_of(owner))
    if type_of(owner) in (EdgeList, EdgePair):
        return OfType(EdgePair if type_of(owner) is EdgeList else node_type())
    try:
        index = ast.literal_eval(node.slice)
        if isinstance(owner, Known):
            items: Any = owner.value if children(owner.value) is None else children(owner.value)
            items = list(items.values()) if isinstance(items, dict) and isinstance(index, int) and index not in items else items
            return Known(items[index]) if type(items) in (list, tuple, dict) else None
    except (ValueError, TypeError, LookupError, SyntaxError):
        pass
    return None


def of_call(node: ast.Call, names):
    """An instance of a called class; what a function says it returns; of a tensor function, a tensor."""
    function = resolve(node.func, names)
    if not isinstance(function, Known):
        return None
    if isinstance(function.value, type):
        return OfType(function.value)
    returned = getattr(inspect.unwrap(function.value), "__annotations__", {}).get("return") if callable(function.value) else None
    if isinstance(returned, type):
        return OfType(returned)
    tensor = tensor_type()
    owner = resolve(node.func.value, names) if isinstance(node.func, ast.Attribute) else None
    of_engine = callable(function.value) and is_op(function.value) or str(getattr(function.value, "__module__", "")).startswith("torch")
    return OfType(tensor) if tensor and (of_engine or owner and is_tensor_type(type_of(owner))) else None


def of_operation(node: ast.BinOp, names):
    sides = [resolve(node.left, names), resolve(node.right, names)]
    return next((OfType(type_of(side)) for side in sides if side and is_tensor_type(type_of(side))), None)


RULES: dict[type, Any] = {
    ast.Constant: lambda node, names: Known(node.value),
    ast.JoinedStr: lambda node, names: OfType(str),
    ast.List: lambda node, names: OfType(list),
    ast.Tuple: lambda node, names: OfType(tuple),
    ast.Dict: lambda node, names: OfType(dict),
    ast.Set: lambda node, names: OfType(set),
    ast.Name: of_name,
    ast.Attribute: of_attribute,
    ast.Subscript: of_subscript,
    ast.Call: of_call,
    ast.BinOp: of_operation,
    ast.UnaryOp: lambda node, names: resolve(node.operand, names),
}


class EdgeList:
    """Stands for what `next_functions` gives: pairs of a node and a number."""


class EdgePair:
    """One such pair."""


def type_of(found: Known | OfType) -> type:
    return type(found.value) if isinstance(found, Known) else found.kind


def tensor_type() -> type | None:
    torch = sys.modules.get("torch")
    return getattr(torch, "Tensor", None)


def node_type() -> type:
    """The type that nodes of the graph have in common."""
    embedded = sys.modules.get("torch") is sys.modules.get("gradrepl.torch")
    return getattr(sys.modules.get("gradrepl.engine.node" if embedded else "torch.autograd.graph"), "Node", object)


def attribute(owner: Known | OfType, name: str) -> Known | OfType | None:
    """An attribute, read from where it is stored. A property is not run: at most its type is known."""
    kind = type_of(owner)
    if isinstance(owner, Known) and isinstance(owner.value, types.ModuleType):
        return module_attribute(owner.value, name)
    if is_tensor_type(kind) and name in TENSORS:
        return OfType(kind)
    if name == "grad_fn" and is_tensor_type(kind):
        return history(owner)
    if name == "next_functions" and hasattr(kind, name):
        return OfType(EdgeList)
    if isinstance(owner, Known):
        return stored(owner.value, name)
    try:
        return declared(inspect.getattr_static(kind, name))
    except AttributeError:
        return None


def module_attribute(module: types.ModuleType, name: str) -> Known | None:
    """A module's name; one of the engine's own submodules is imported, as writing it out would do."""
    if name in vars(module):
        return Known(vars(module)[name])
    if module.__name__.partition(".")[0] in ("torch", "gradrepl"):
        try:
            return Known(getattr(module, name))
        except (AttributeError, ImportError):
            return None
    return None


def history(owner: Known | OfType) -> Known | OfType:
    """A tensor's node. Not read from a view: a write to its base makes reading it build a new node."""
    if isinstance(owner, Known) and not owner.value._is_view():
        return Known(owner.value.grad_fn)
    return OfType(node_type())


def stored(value: Any, name: str) -> Known | OfType | None:
    found = (children(value) or {}).get(name)
    if found is not None:
        return Known(found)
    try:
        found = inspect.getattr_static(value, name)
    except AttributeError:
        return None
    return Known(found.__get__(value)) if isinstance(found, SLOTS) and is_set(found, value) else declared(found)


def is_set(slot: Any, value: Any) -> bool:
    try:
        slot.__get__(value)
        return True
    except AttributeError:
        return False


def declared(found: Any) -> Known | OfType:
    """What a class says about an attribute: a property's annotated type, a function itself, a plain value."""
    if isinstance(found, (staticmethod, classmethod)):
        return Known(found.__func__)
    if isinstance(found, property):
        returned = getattr(found.fget, "__annotations__", {}).get("return")
        return OfType(returned if isinstance(returned, type) else object)
    if hasattr(type(found), "__get__") and not callable(found):
        return OfType(object)
    return Known(found)


def children(value: Any) -> dict[str, Any] | None:
    """The parameters, buffers and submodules that a module keeps in dicts of its own."""
    own = getattr_dict(value)
    if not isinstance(own.get("_modules"), dict):
        return None
    return {**(own.get("_parameters") or {}), **(own.get("_buffers") or {}), **own["_modules"]}


def getattr_dict(value: Any) -> dict[str, Any]:
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return own if isinstance(own, dict) else {}


def attribute_names(owner: Known | OfType) -> list[str]:
    """The names that `dir` lists, of the value or of its type."""
    if type_of(owner) in (EdgeList, EdgePair):
        return dir(tuple)
    try:
        names = dir(owner.value if isinstance(owner, Known) else owner.kind)
    except Exception:  # a `__dir__` of the user's that fails; the type still has its names
        names = dir(type_of(owner))
    if isinstance(owner, Known) and (below := children(owner.value)):
        names = [*names, *below]
    return [name for name in dict.fromkeys(names) if isinstance(name, str)]


def is_op(function: Any) -> bool:
    """Whether a function of an engine, whose Python signature, if it has one, says nothing to users."""
    if inspect.isbuiltin(function) or inspect.ismethoddescriptor(function):  # PyTorch's, written in C
        owner = getattr(function, "__self__", getattr(function, "__objclass__", None))
        written_in_c = getattr(sys.modules.get("torch"), function.__name__, None) is function
        return written_in_c or "torch" in (str(getattr(kind, "__module__", None)).partition(".")[0] for kind in (owner, type(owner)))
    return str(getattr(function, "__module__", None)).startswith("gradrepl.engine") or hasattr(inspect.unwrap(function), "declaration")


def signature(function: Any, name: str = "", bound: bool = False) -> inspect.Signature | None:
    """The signature; None where a function does not tell. An op has the one with most parameters that PyTorch gives under its name."""
    declared = op_signatures(name or getattr(function, "__name__", ""), bound) if is_op(function) else []
    if declared:
        return max(declared, key=lambda option: len(option.parameters))
    try:
        found = inspect.signature(function)
    except (ValueError, TypeError):
        return None
    parameters = list(found.parameters.values())
    return found.replace(parameters=parameters[1:]) if bound and parameters and parameters[0].name == "self" else found


def op_signatures(name: str, bound: bool) -> list[inspect.Signature]:
    """The ways in which PyTorch lets an op be called."""
    from gradrepl.engine.signatures import signatures

    return [as_python(option) for option in signatures("methods" if bound else "functions", name) if not option.hidden]


def as_python(option: Any) -> inspect.Signature:
    kinds = {False: inspect.Parameter.POSITIONAL_OR_KEYWORD, True: inspect.Parameter.KEYWORD_ONLY}
    parameters = [inspect.Parameter(p.name, kinds[p.keyword_only], default=default_of(p)) for p in option.parameters]
    return inspect.Signature(sorted(parameters, key=lambda p: (p.kind, p.default is not p.empty)))


class Written:
    """A default value as PyTorch writes it."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def default_of(parameter: Any) -> Any:
    text = "None" if parameter.default is None and parameter.allow_none else parameter.default
    return inspect.Parameter.empty if text is None else Written(text)


def signature_text(function: Any, name: str = "", bound: bool = False) -> str:
    """The signature without annotations; where there is none, what the docstring begins with."""
    found = signature(function, name, bound)
    if found is None:
        line = (inspect.getdoc(function) or "").partition("\n")[0]
        return line[line.index("(") :] if "(" in line else "(…)"
    parameters = [parameter.replace(annotation=parameter.empty) for parameter in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def signature_texts(function: Any, name: str = "", bound: bool = False) -> list[str]:
    """All the ways to call a function: of an op one line for each that PyTorch knows."""
    declared = op_signatures(name, bound) if is_op(function) else []
    return [str(option) for option in declared] or [signature_text(function, name, bound)]


def is_instance(owner: Known | OfType | None) -> bool:
    """Whether what stands before a dot is an object, so that its functions are bound to it, and no module or class."""
    return owner is not None and not (isinstance(owner, Known) and isinstance(owner.value, (type, types.ModuleType)))
