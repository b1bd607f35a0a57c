"""`watch(name)`: the tree of a variable again after each input that changes it."""

import sys
from typing import Any

from gradrepl.repl.settings import nearest


class Watched:
    """The watched names, and of each the mark of what was shown last. A mark holds no tensor: watching keeps nothing alive."""

    def __init__(self, shell):
        self.shell = shell
        self.marks: dict[str, Any] = {}

    def __call__(self, name: Any) -> None:
        """Show the tree of a variable now, and again after each input that changes it; `unwatch(name)` stops that.

        `name` is the variable's name, or its value, which is then looked up.
        """
        if not isinstance(name, str):
            name = next((known for known, value in self.shell.namespace.items() if value is name and not known.startswith("_")), "")
        if name.split(".")[0] not in self.shell.namespace:
            from gradrepl.repl.commands import CommandError

            raise CommandError(f"no variable {name!r}{nearest(name, self.shell.namespace)}")
        self.marks[name] = None

    def command(self, name: str) -> None:
        if name:
            self(name)
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
            mark = mark_of(self.value(name))
            if mark != before:
                self.marks[name] = mark
                self.show(name)

    def show(self, name: str) -> None:
        import gradrepl
        from gradrepl.repl.printer import draw

        value = self.value(name)
        print(f"{name}:")
        try:
            draw(gradrepl.tree(value, names={name: value, **self.shell.own_names()}), sys.stdout)
        except ValueError as error:  # no graph under it now
            print(error)


def mark_of(value: Any) -> Any:
    """What tells one state of a tensor from another: its node, its version, whether it has a gradient."""
    node = getattr(value, "grad_fn", None)
    grad = getattr(value, "grad", None) if getattr(value, "is_leaf", False) else None
    return id(value), id(node), getattr(value, "_version", None), getattr(grad, "_version", None), id(grad)
