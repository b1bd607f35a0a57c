"""Shows an error: the user's own lines with carets, then what the graph knows about it. Imports the standard library; advice on need."""

import os
import re
import shutil
import sys
import textwrap
import traceback
import warnings
from types import TracebackType

from gradrepl.repl.printer import write
from gradrepl.repl.streams import has_colour, is_terminal

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_internal(filename: str) -> bool:
    """Whether a frame belongs to the engine or the shell: this package, the functions written for an op, an installed PyTorch."""
    if filename.startswith("<"):
        return " " in filename or filename.startswith("<frozen ")
    return filename.startswith(PACKAGE) or f"{os.sep}torch{os.sep}" in filename and "-packages" in filename


def show_error(kind: type[BaseException], error: BaseException, tb: TracebackType | None, theme: str = "none") -> None:
    """Write an error and its traceback to standard error, and what the graph says about it below."""
    stream = sys.stderr
    if stream is None or getattr(stream, "closed", False):
        return
    colour = theme if has_colour(stream) else "none"
    text = formatted(kind, error, tb)
    notes = notes_about(error, tb)
    write(painted(text, kind, colour) + laid_out(notes, stream), stream)
    stream.flush()


def laid_out(notes: list[str], stream) -> str:
    """The notes, indented, and on a terminal broken between words."""
    if not is_terminal(stream):
        return "".join(f"  {note}\n" for note in notes)
    width = max(20, shutil.get_terminal_size().columns - 1)
    return "".join(
        textwrap.fill(note, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False) + "\n" for note in notes
    )


def formatted(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> str:
    """Python's own text for an error, with the user's frames only."""
    report = traceback.TracebackException(kind, error, tb, compact=True)
    keep_user_frames(report)
    typed = all(frame.filename.startswith("<gradrepl-") for frame in report.stack)
    if typed and kind.__module__ == "gradrepl.graphs.errors":  # the line is before the user's eyes, the message says what to type instead
        return f"{kind.__name__}: {error}\n"
    return "".join(report.format())


def keep_user_frames(report: traceback.TracebackException) -> None:
    """Take out internal frames, here and in the errors that led to this one; one that never left the inside is dropped."""
    todo, seen = [report], set()
    while todo:
        found = todo.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        frames = [frame for frame in found.stack if not is_internal(frame.filename)]
        found.stack[:] = frames
        for name in ("__cause__", "__context__"):
            before = getattr(found, name)
            if before is not None and before.stack and all(is_internal(frame.filename) for frame in before.stack):
                setattr(found, name, None)
        todo += [before for before in (found.__cause__, found.__context__, *(getattr(found, "exceptions", None) or ())) if before]


def notes_about(error: BaseException, tb: TracebackType | None) -> list[str]:
    """What the graph knows about the error. Never more than a note: if it cannot be told, the error stands alone."""
    if isinstance(error, (SyntaxError, KeyboardInterrupt)) or not isinstance(error, Exception) or "torch" not in sys.modules:
        return []
    from gradrepl.repl.advice import notes

    try:
        return notes(error, tb)
    except Exception:
        # the error itself is what the user needs to see; a broken graph must not hide it
        return []


def painted(text: str, kind: type[BaseException], theme: str) -> str:
    """The text with the line that names the error in colour, the whole of it, so that it can still be searched for."""
    from gradrepl.repl import themes

    named = list(re.finditer(rf"^[\w.]*{re.escape(kind.__qualname__)}(?=:|$).*$", text, re.MULTILINE))
    if theme == "none" or not named:
        return text
    start, end = named[-1].span()
    return text[:start] + themes.painted(text[start:end], theme, "error") + text[end:]


def show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """`warnings.showwarning` of the shell: Python's own text, and a line of advice where there is one."""
    stream = file or sys.stderr
    if stream is None:
        return
    from gradrepl.repl.advice import advice_for

    notes = advice_for(str(message))
    write(warnings.formatwarning(message, category, filename, lineno, line) + laid_out(notes, stream), stream)
