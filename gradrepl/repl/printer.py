"""Shows a value: `repr` and a newline, as Python does; what draws itself (trees, tables) is drawn. Imports rich only for those."""

import builtins
import sys
from typing import Any

from gradrepl.repl.streams import has_colour, is_terminal

# a repr longer than this is shown with its middle left out, this much of both ends kept
WHOLE, END = 1_000_000, 4_000
CHUNK = 1 << 16


class Printer:
    """The display hook of the shell. `facts` says in a few words what was shown last, without keeping it alive."""

    def __init__(self, settings):
        self.settings = settings
        self.facts, self.count = "", 0

    def display(self, value: Any) -> None:
        if value is None:
            return
        builtins._ = None  # type: ignore[attr-defined]
        show(value, self.settings)
        # in builtins only, so that a `_` of the user's own wins
        builtins._ = value  # type: ignore[attr-defined]
        self.count += 1
        from gradrepl.repl.facts import about, short

        self.facts = short(value)
        if self.settings.info and (line := about(value)):
            write(f"{line}\n", sys.stdout)

    def forget(self) -> None:
        """Let go of the last value."""
        builtins._ = None  # type: ignore[attr-defined]
        self.facts = ""


def show(value: Any, settings=None) -> None:
    """Write a value to standard output: its `repr` as it is; what draws itself is laid out, what can be gone through has its own prompt."""
    stream = sys.stdout
    if settings and hasattr(type(value), "_repr_mimebundle_") and type(value).__name__ == "Graph" and is_terminal(stream):
        from gradrepl.repl.images import show_graph

        show_graph(value, settings, stream)
    elif settings and hasattr(type(value), "interact") and is_terminal(stream) and is_terminal(sys.stdin):
        value.interact()
    elif draws_itself(value):
        draw(value, stream, settings)
    else:
        write(f"{abridged(repr(value))}\n", stream)


def draws_itself(value: Any) -> bool:
    return hasattr(type(value), "__rich__") or hasattr(type(value), "__rich_console__")


def draw(value: Any, stream, settings=None) -> None:
    """Lay out what draws itself: in the width of a terminal, with colours if it has them; as text elsewhere."""
    if is_terminal(stream):
        from rich.console import Console

        coloured = has_colour(stream) and not (settings and settings.theme == "none")
        Console(file=stream, highlight=False, color_system="auto" if coloured else None).print(value)
    else:
        write(f"{value}\n", stream)


def table(rows: list[tuple[str, ...]]) -> str:
    """The rows in aligned columns, the last one broken between words; where a terminal is too narrow for that, one row after the other."""
    import shutil
    import textwrap

    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    indent = sum(widths) + 2 * len(widths)
    width = shutil.get_terminal_size().columns - 1 if is_terminal(sys.stdout) else indent + max(len(row[-1]) for row in rows) + 1
    if width - indent < 20:
        lines = (textwrap.wrap("  ".join(filter(None, row)), width, subsequent_indent="    ", break_on_hyphens=False) for row in rows)
        return "\n".join(sum(lines, []))
    return "\n".join(aligned(row, widths, width - indent) for row in rows)


def aligned(row: tuple[str, ...], widths: list[int], room: int) -> str:
    head = "".join(cell.ljust(width + 2) for cell, width in zip(row, widths, strict=False))
    import textwrap

    last = ("\n" + " " * len(head)).join(textwrap.wrap(row[-1], room, break_on_hyphens=False))
    return (head + last).rstrip()


def abridged(text: str) -> str:
    """A very long text without its middle, which the notice counts."""
    if len(text) <= WHOLE:
        return text
    return f"{text[:END]}\n… {len(text) - 2 * END:,} more characters (print(repr(_)) shows all) …\n{text[-END:]}"


def paint(text: str, role: str, settings) -> str:
    """A text for standard output in the colour of its role."""
    from gradrepl.repl.themes import painted

    return painted(text, settings.theme if has_colour(sys.stdout) else "none", role)


def write(text: str, stream) -> None:
    """Write in pieces, so that Ctrl-C stops a long one; what the encoding cannot carry is escaped, as `sys.displayhook` does."""
    for start in range(0, len(text), CHUNK):
        piece = text[start : start + CHUNK]
        try:
            stream.write(piece)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(piece.encode(encoding, "backslashreplace").decode(encoding))
