"""Shows a value: `repr` and a newline, as Python does; what draws itself (trees, tables) is drawn. Imports rich only for those."""

import sys
from typing import Any

from gradrepl.repl.streams import has_colour


def show(value: Any) -> None:
    """Write a value to standard output. Its `repr` is written as it is; only a type that defines `__rich__` is laid out."""
    stream = sys.stdout
    if hasattr(type(value), "__rich__"):
        draw(value, stream)
    else:
        stream.write(f"{value!r}\n")


def draw(value: Any, stream) -> None:
    if has_colour(stream):
        from rich.console import Console

        Console(file=stream, highlight=False, soft_wrap=True).print(value)
    else:
        stream.write(f"{value}\n")
