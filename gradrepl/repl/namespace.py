"""The namespace that input runs in: a real `__main__`, with names that are imported when an input first mentions them."""

import ast
import gc
import importlib
import sys
from _thread import allocate_lock
from collections.abc import Container
from types import ModuleType
from typing import Any

FUNCTIONS = ("graph", "tree", "listing", "save", "explain", "step", "why", "check", "saved", "diff")
# what every session starts with -> where it comes from
PRELOADED = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "np": "numpy",
    **{name: f"gradrepl:{name}" for name in FUNCTIONS},
}
# a program that calls one of these may reach a name without writing it
REFLECTION = {"eval", "exec", "globals", "locals", "vars", "dir", "compile"}


def new_main() -> ModuleType:
    """Put a fresh module `__main__` in place, so that pickle, `inspect` and dataclasses find what is defined in the session."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main
    return main


class Preloaded:
    """Puts the preloaded names into a namespace, each when it is first needed, and never over a name of the user's own.

    `fresh`: nothing of the user's has run in this process yet, so that there is no garbage.
    """

    def __init__(self, namespace: dict[str, Any], table: dict[str, str] = PRELOADED, fresh: bool = False):
        self.namespace, self.table = namespace, table
        self.given: dict[str, Any] = {}
        self.ready: dict[str, Any] = {}
        self.fresh = fresh
        self.lock = allocate_lock()  # names are also put from the thread that warms the shell up
        self.start()

    def start(self) -> None:
        """Offer every name again that is not taken."""
        self.waiting = {name: home for name, home in self.table.items() if name not in self.namespace}
        self.offer(self.ready)

    def offer(self, values: dict[str, Any]) -> None:
        """Give some names now, as ready values."""
        self.ready = values
        for name, value in values.items():
            if name not in self.namespace:
                self.namespace[name] = self.given[name] = value

    def take_back(self) -> None:
        """Remove what was given and is still the same."""
        for name, value in self.given.items():
            if self.namespace.get(name) is value:
                del self.namespace[name]

    def gave(self, name: str, value: Any) -> bool:
        """Whether the value of this name is the preloaded one."""
        return name in self.given and self.given[name] is value

    def __call__(self, tree: ast.AST) -> None:
        if not self.waiting:
            return
        reads, writes = used_names(tree)
        for name in [name for name in list(self.waiting) if name in reads and reads[name] <= writes.get(name, reads[name])]:
            self.put(name)
        if reads.keys() & REFLECTION:
            self.put_all()
        if self.fresh:
            gc.freeze()  # what is there now stays, and need not be looked at again, nor at exit
            self.fresh = False

    def put(self, name: str) -> None:
        """Import one name."""
        with self.lock:
            home = self.waiting.get(name)
            if home is not None and name not in self.namespace:
                self.given[name] = imported(home)
                self.namespace.setdefault(name, self.given[name])  # the user's own assignment may have run meanwhile
            self.waiting.pop(name, None)

    def put_all(self, wanted: Container[str] = PRELOADED) -> None:
        """Import every name; one that cannot be imported stays undefined until it is used, which raises the error."""
        for name in [name for name in list(self.waiting) if name in wanted]:
            try:
                self.put(name)
            except ImportError:
                continue


def imported(home: str) -> Any:
    """The module `a.b`, or the attribute `c` of it for `a.b:c`."""
    module, _, attribute = home.partition(":")
    collecting = gc.isenabled()
    gc.disable()  # what is imported stays: looking for garbage in it takes a tenth of the time
    try:
        value = importlib.import_module(module)
    finally:
        if collecting:
            gc.enable()
    return getattr(value, attribute) if attribute else value


def used_names(tree: ast.AST) -> tuple[dict[str, int], dict[str, int]]:
    """Names read and names bound anywhere in the tree, each with the line where that first happens."""
    reads: dict[str, int] = {}
    writes: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            first(reads if isinstance(node.ctx, ast.Load) else writes, node.id, node.lineno)
        elif isinstance(node, ast.alias):
            first(writes, (node.asname or node.name).partition(".")[0], node.lineno)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first(writes, node.name, node.lineno)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            first(reads, node.target.id, node.lineno)
    return reads, writes


def first(lines: dict[str, int], name: str, line: int) -> None:
    lines[name] = min(line, lines.get(name, line))
