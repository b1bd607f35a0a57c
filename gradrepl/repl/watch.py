"""`watch(name)`: the tree of a variable again after each input that changes it."""

import sys
import weakref
from typing import Any

from gradrepl.repl.facts import is_tensor
from gradrepl.repl.settings import nearest


class Watched:
    """The watched names, and of each the mark of what was shown last. A mark holds no tensor: watching keeps nothing alive."""

    def __init__(self, shell):
        self.shell = shell
        self.marks: dict[str, Any] = {}

    def start(self, name: Any) -> None:
        """Show the tree of a variable now, and again after each input that changes it; unwatch(name) stops that.

        `name` is the variable's name, or its value, which is then looked up.
        """
        if not isinstance(name, str):
            name = next((known for known, value in self.shell.namespace.items() if value is name and not known.startswith("_")), "")
        if name not in self.shell.namespace:
            raise NameError(f"no variable {name!r} to watch{nearest(name, self.shell.namespace)}")
        self.marks[name] = None

    def command(self, name: str) -> None:
        if name:
            self.start(name)
        else:
            print("watched: " + ", ".join(self.marks) if self.marks else "nothing is watched; %watch NAME starts")

    def stop(self, name: Any = "") -> None:
        """Stop watching a variable, or all."""
        if isinstance(name, str) and name:
            self.marks.pop(name, None)
        elif isinstance(name, str):
            self.marks.clear()
        else:
            self.marks = {known: mark for known, mark in self.marks.items() if self.value(known) is not name}

    def value(self, name: str) -> Any:
        return self.shell.namespace.get(name)

    def look(self) -> None:
        """Show what has changed since the last look."""
        for name, before in list(self.marks.items()):
            value = self.value(name)
            if before is None or not before.fits(value):
                self.marks[name] = Mark(value)
                self.show(name, value, before)

    def show(self, name: str, value: Any, before: "Mark | None") -> None:
        from gradrepl.graphs import capture
        from gradrepl.repl.printer import draw

        print(f"{name}:")
        try:
            import gradrepl

            seen = capture(value, names=self.shell.own_names())
            draw(gradrepl.tree(seen.graph), sys.stdout, self.shell.settings)
        except ValueError as error:  # there is no graph under it now; the message says why
            return print(f"  {error}")
        latest = max((node.sequence for node in seen.graph.nodes), default=0)
        self.marks[name].latest = latest
        new = [f"{node.id} {node.name}" for node in seen.graph.nodes if before and not node.leaf and node.sequence > before.latest]
        if new and len(new) < sum(not node.leaf for node in seen.graph.nodes):
            print("  new: " + ", ".join(new[:8]) + (f" and {len(new) - 8} more" if len(new) > 8 else ""))


class Mark:
    """What tells one state of a tensor, or of a list or dict of them, from another. Holds no tensor: watching keeps nothing alive."""

    def __init__(self, value: Any):
        self.references = [weakref.ref(tensor) for tensor in tensors_in(value)]
        self.states = [state_of(tensor) for tensor in tensors_in(value)]
        self.latest = 0

    def fits(self, value: Any) -> bool:
        tensors = tensors_in(value)
        same = len(tensors) == len(self.references) and all(ref() is tensor for ref, tensor in zip(self.references, tensors, strict=True))
        return same and self.states == [state_of(tensor) for tensor in tensors]


def tensors_in(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
    return [item for item in items if is_tensor(item)]


def state_of(tensor: Any) -> tuple:
    """The version of a tensor and of its gradient."""
    grad = tensor.grad if tensor.is_leaf else None
    return tensor._version, grad is not None, grad._version if grad is not None else 0
