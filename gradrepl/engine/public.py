"""Which names users see: what `torch.<name>` is, and what is a method of Tensor. Imports tensor and arguments only."""

from importlib import import_module
from types import FunctionType

from gradrepl.engine.arguments import guard
from gradrepl.engine.tensor import Tensor

FUNCTIONS: dict = {}  # what the torch module shows


def publish(scope, both="", functions="", methods="", in_place="", in_place_both=""):
    """Show names of a module (`scope` is its globals()) to users: as `torch.<name>`, as a method, or as both.

    `public:internal` shows an object under another name. `in_place` names ops whose writing variant is shown as `Tensor.<name>_`,
    `in_place_both` those that are `torch.<name>_` too.
    """
    for name, internal in pairs(both + " " + functions):
        FUNCTIONS[name] = guarded(scope[internal], name, "functions")
    for name, internal in pairs(both + " " + methods):
        setattr(Tensor, name, guarded(scope[internal], name, "methods"))
    for name, internal in pairs(in_place + " " + in_place_both):
        setattr(Tensor, name + "_", guarded(scope[internal].declaration.functions["_"], name + "_", "methods"))
    for name, internal in pairs(in_place_both):
        FUNCTIONS[name + "_"] = guarded(scope[internal].declaration.functions["_"], name + "_", "functions")


def defer(module, both="", functions="", methods=""):
    """Show names whose module is imported when one of them is first called; it publishes them itself then."""
    for name in (both + " " + functions).split():
        FUNCTIONS[name] = waiting(module, name, FUNCTIONS.__getitem__)
    for name in (both + " " + methods).split():
        setattr(Tensor, name, waiting(module, name, lambda name: getattr(Tensor, name)))


def waiting(module, name, published):
    def stand_in(*args, **kwargs):
        import_module(module)
        return published(name)(*args, **kwargs)

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def guarded(shown, name, home):
    """A function with PyTorch's errors for wrong arguments. Operators stay bare: Python makes their errors, and they are hot."""
    return guard(shown, name, home) if isinstance(shown, FunctionType) and not name.startswith("__") else shown


def show(scope, home):
    """Guard the functions of a submodule of torch (`scope` is its globals()), whose signatures are listed under `home`."""
    prefix = "" if home == "functional" else home + "_"  # torch.linalg.inv is called linalg_inv
    for name, shown in list(scope.items()):
        if isinstance(shown, FunctionType) and not name.startswith("_") and name != "show":
            scope[name] = guarded(shown, prefix + name, home)


def pairs(names):
    return [(name, internal or name) for name, _, internal in (item.partition(":") for item in names.split())]
