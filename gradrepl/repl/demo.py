"""`gradrepl demo`: plays a script as if someone typed it. Its comments are the commentary, the first of them its title."""

import ast
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from gradrepl.repl.settings import Settings, nearest
from gradrepl.repl.streams import is_terminal, silence

FOLDER = Path(__file__).parent.parent / "demos"
DELAY = 0.025  # seconds between two letters
USAGE = "usage: gradrepl demo [NAME] [--list] [--fast]\nSpace goes on, q leaves; --fast types without waiting."


class Line(NamedTuple):
    """A comment, or a statement to type."""

    text: str
    typed: bool


class Left(Exception):
    """The viewer has seen enough."""


def play(words: list[str]) -> int:
    """Play the named demo, the first without a name. Returns the exit status."""
    try:
        status = chosen(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        silence(sys.stdout)
        return 1


def chosen(words: list[str]) -> int:
    """Do what the words after `demo` ask for."""
    demos = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"}
    names = [word for word in words if not word.startswith("-")]
    unknown = [word for word in words if word.startswith("-") and word not in ("--list", "--fast")]
    if unknown or len(names) > 1 or "--help" in words:
        print(USAGE, file=sys.stderr)
        return 2
    if "--list" in words:
        print("\n".join(f"{short(name):<16}  {title(path.read_text())}" for name, path in demos.items()))
        return 0
    found = [path for name, path in demos.items() if not names or short(name).startswith(names[0]) or name == names[0]]
    if not found:
        print(f"gradrepl: no demo {names[0]!r}{nearest(names[0], map(short, demos))}; gradrepl demo --list", file=sys.stderr)
        return 2
    return run(found[0].read_text(), fast="--fast" in words or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)))


def short(name: str) -> str:
    """A demo's name without the number that orders it: `chain_rule` for `01_chain_rule`."""
    number, underscore, rest = name.partition("_")
    return rest if number.isdigit() and underscore else name


def title(script: str) -> str:
    return script.lstrip().partition("\n")[0].lstrip("# ").strip()


def lines_of(script: str) -> list[Line]:
    """The comments between statements, and the statements, in order.

    >>> lines_of("# a title\\nx = 1\\n# then\\nfor i in y:\\n    # inside\\n    print(i)\\n")[1::2]
    [Line(text='x = 1', typed=True), Line(text='for i in y:\\n    # inside\\n    print(i)', typed=True)]
    """
    lines, found, at = script.split("\n"), [], 0
    for node in ast.parse(script).body:
        start = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]) - 1
        if start < at:
            continue  # a second statement on the same line has been typed with the first
        found += comments(lines[at:start])
        at = node.end_lineno or start + 1
        found.append(Line("\n".join(lines[start:at]), typed=True))
    return found + comments(lines[at:])


def comments(lines: list[str]) -> list[Line]:
    return [Line(line.lstrip("# ").rstrip(), typed=False) for line in lines if line.startswith("#")]


def run(script: str, fast: bool) -> int:
    """Type the script into a shell of its own."""
    from gradrepl.embedding import use_embedded_torch
    from gradrepl.repl.namespace import new_main
    from gradrepl.repl.shell import Shell
    from gradrepl.repl.start import hooked

    use_embedded_torch()
    shell = Shell(new_main().__dict__, Settings())
    with hooked(shell):
        try:
            for number, line in enumerate(lines_of(script)):
                show(line, shell, fast, first=not number)
        except (Left, KeyboardInterrupt):
            print()
        except SystemExit:
            return 0
    return 0


def show(line: Line, shell, fast: bool, first: bool) -> None:
    from gradrepl.repl.printer import paint

    if not line.typed:
        print(paint(line.text, "prompt" if first else "comment", shell.settings))
        return
    with nullcontext() if fast else silent_keys():
        for number, text in enumerate(line.text.split("\n")):
            print(paint("... " if number else ">>> ", "prompt", shell.settings), end="", flush=True)
            type_out(text, fast)
    shell.run(line.text)
    sys.stdout.flush()
    if not fast:
        wait()


def type_out(text: str, fast: bool) -> None:
    for letter in text:
        print(letter, end="", flush=True)
        if not fast:
            time.sleep(DELAY)
    print()


@contextmanager
def silent_keys() -> Iterator[None]:
    """Keys that are pressed meanwhile are kept one by one, and do not appear between what is typed."""
    if os.name != "posix":
        yield
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def wait() -> None:
    """Wait for a key: q, Escape and Ctrl-D leave, any other goes on."""
    with silent_keys():
        key = os.read(sys.stdin.fileno(), 1) if os.name == "posix" else input().encode()[:1] or b" "
    if key in (b"q", b"Q", b"\x1b", b"\x04", b""):
        raise Left
