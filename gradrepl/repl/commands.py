"""Session commands: `%name arguments` and `obj?`. A command is a function in a table; nothing is a command unless it looks like one."""

import ast
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gradrepl.repl.printer import table
from gradrepl.repl.settings import SETTINGS, config_folder, nearest, state_folder

QUESTION = re.compile(r"\s*(\?{0,2})([^?\n#]*)(\?{0,2})\s*")
NAME = re.compile(r"%\s*([\w.?-]*)[ \t]*(.*)", re.DOTALL)


class CommandError(Exception):
    """A command cannot do what it was told; the text is the one line to show."""


class Command(NamedTuple):
    """`arguments` as the help shows them; `after`: what Tab completes behind the name: paths, expressions, or a setting's values."""

    run: Callable[[Any, str], None]
    arguments: str
    after: str

    @property
    def meaning(self) -> str:
        return (self.run.__doc__ or "").strip().partition("\n")[0]


COMMANDS: dict[str, Command] = {}


def command(name: str, arguments: str = "", after: str = ""):
    def register(function):
        COMMANDS[name] = Command(function, arguments, after)
        return function

    return register


def as_command(source: str) -> Callable[[Any], None] | None:
    """What to do for `%name …`, `obj?` and `?obj`; None for Python."""
    if source.startswith("%"):
        name, rest = NAME.fullmatch(source).groups()  # type: ignore[union-attr]
        return lambda shell: found(name).run(shell, rest.strip())
    question = QUESTION.fullmatch(source)
    if question and (question[1] or question[3]) and is_expression(question[2]):
        return lambda shell: ask(shell, question[2].strip(), "??" in (question[1], question[3]))
    return None


def is_expression(text: str) -> bool:
    try:
        return not text.strip() or bool(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError):
        return False


def found(name: str) -> Command:
    """The command of a name or of the unique beginning of one."""
    if name in COMMANDS:
        return COMMANDS[name]
    matches = [known for known in COMMANDS if known.startswith(name)] if name else []
    if len(matches) == 1:
        return COMMANDS[matches[0]]
    if matches:
        raise CommandError(f"%{name} may be {', '.join('%' + match for match in matches)}")
    raise CommandError(f"no command %{name}{nearest(name, COMMANDS) or '; %help lists them'}")


def complete_command(text: str, shell):
    """Names of commands, then what the command takes."""
    from gradrepl.repl.completion import Found, complete, paths

    name, space, rest = text[1:].partition(" ")
    if not space:
        return [Found(known, len(name), meta=COMMANDS[known].meaning) for known in sorted(COMMANDS) if known.startswith(name)]
    known = COMMANDS.get(name)
    if known is None or known.after == "paths":
        return paths(rest.rpartition(" ")[2]) if known else []
    if known.after == "expression":
        return complete(rest, shell)
    values = SETTINGS[known.after][1] if known.after in SETTINGS else ()
    return [Found(value, len(rest)) for value in values if value.startswith(rest)] if isinstance(values, tuple) else []


def ask(shell, expression: str, source: bool) -> None:
    if not expression:
        return help_(shell, "")
    from gradrepl.repl.describe import describe

    describe(expression, shell, source=source)


@command("help", "[command]")
def help_(shell, rest: str) -> None:
    """What one can type here"""
    if rest:
        name = rest.removeprefix("%")
        known = found(name)
        return print(f"%{name} {known.arguments}\n    {known.meaning}")
    from gradrepl.repl.manual import manual

    print(manual())


@command("vars", "[type]")
def vars_(shell, rest: str) -> None:
    """The names of the session: shapes, dtypes, requires_grad, grad_fn"""
    from gradrepl.repl.facts import variables

    rows = variables(shell.own_names())
    rows = [row for row in rows if not rest or rest in row[1:3]]
    print(table([("name", "type", "shape", "dtype", "requires_grad", "grad_fn"), *rows]) if rows else "no names yet")


@command("reset")
def reset(shell, rest: str) -> None:
    """Forget every name of the session; torch, nn, F, np and the functions of gradrepl stay"""
    count = shell.reset()
    print(f"{count} name{'s' * (count != 1)} forgotten")


@command("run", "FILE [argument…]", "paths")
def run(shell, rest: str) -> None:
    """Run a script in this session"""
    words = file_words(rest)
    source = read_text(words[0])
    before, sys.argv = sys.argv, words
    folder = os.path.dirname(os.path.abspath(os.path.expanduser(words[0])))
    sys.path.insert(0, folder)  # modules beside the script, as when Python runs it
    try:
        shell.evaluator.run(source, words[0])
    except SystemExit as ended:  # the script's end is not the session's
        if ended.code:
            print(f"{words[0]} ended with {ended.code}")
    finally:
        sys.argv = before
        if folder in sys.path:
            sys.path.remove(folder)


@command("save", "[-f] FILE", "paths")
def save(shell, rest: str) -> None:
    """Write the inputs that ran as a script that plain PyTorch runs"""
    words = file_words(rest)
    path = os.path.expanduser(words[-1])
    if os.path.exists(path) and "-f" not in words[:-1]:
        raise CommandError(f"{path} exists; %save -f {path} writes over it")
    from gradrepl.repl.script import as_script

    text = as_script(shell.session)
    write_text(path, text)
    print(f"{path}: {text.count(chr(10))} lines")


def write_text(path: str, text: str) -> None:
    from gradrepl.graphs import GraphError
    from gradrepl.render.files import write

    try:
        write(Path(path), text.encode(errors="replace"))
    except GraphError as error:
        raise CommandError(str(error)) from None


def read_text(path: str) -> str:
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def file_words(rest: str) -> list[str]:
    """The words of a command that names a file, quoted as in a POSIX shell."""
    import shlex

    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise CommandError(f"{error} in {rest}") from None
    if not words:
        raise CommandError("which file? Type its name after the command")
    return words


@command("load", "FILE", "paths")
def load(shell, rest: str) -> None:
    """Put a file's text at the prompt, to be looked at and run by Enter"""
    shell.next_text = read_text(file_words(rest)[0]).rstrip("\n")


@command("history", "[number | text]")
def history(shell, rest: str) -> None:
    """The inputs of this session: all, the last few, or those that contain a text"""
    entries = list(enumerate(shell.session.entries, 1))
    entries = (
        entries[max(0, len(entries) - int(rest)) :] if rest.isdigit() else [(n, entry) for n, entry in entries if rest in entry.source]
    )
    for number, entry in entries:
        print(f"{number:4}  " + entry.source.replace("\n", "\n      "))


@command("time", "STATEMENT", "expression")
def time_(shell, rest: str) -> None:
    """Run a statement once and say how long it took"""
    from gradrepl.repl.timing import duration

    wall, processor = time.perf_counter(), time.process_time()
    try:
        shell.evaluator.run(rest)
    finally:
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(f"{duration(wall)} (processor {duration(processor)})")


@command("timeit", "STATEMENT", "expression")
def timeit(shell, rest: str) -> None:
    """Run a statement many times: the mean and the spread of several rounds"""
    from gradrepl.repl.timing import timed

    shell.preloaded(ast.parse(rest))
    print(timed(rest, shell.namespace))


@command("edit", "[FILE | number]", "paths")
def edit(shell, rest: str) -> None:
    """Open the last input, an earlier one or a file in the editor; what is saved comes to the prompt"""
    with tempfile.TemporaryDirectory() as folder:
        if rest and not rest.isdigit():
            path = os.path.expanduser(file_words(rest)[0])
        else:
            path = os.path.join(folder, "input.py")
            write_text(path, earlier(shell, rest) + "\n")
        open_editor(shell, path)
        shell.next_text = read_text(path).rstrip("\n") if os.path.exists(path) else ""


def earlier(shell, number: str) -> str:
    entries = shell.session.entries
    if number and not 1 <= int(number) <= len(entries):
        raise CommandError(f"no input {number}; there are {len(entries)}")
    return entries[int(number) - 1].source if number else entries[-1].source if entries else ""


def open_editor(shell, path: str) -> None:
    import shlex

    editor = shell.settings.editor or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        status = subprocess.run([*shlex.split(editor), path]).returncode
    except OSError as error:
        raise CommandError(f"cannot start {editor}: {error.strerror}; set $EDITOR, or editor in config.toml") from None
    if status:
        raise CommandError(f"{editor} ended with status {status}; nothing is changed")


@command("vi")
def vi(shell, rest: str) -> None:
    """Switch to vi keys; a second time, back to emacs keys"""
    shell.settings.keys = "emacs" if shell.settings.keys == "vi" else "vi"
    shell.reader.set_keys(shell.settings.keys)
    print(f"{shell.settings.keys} keys")


@command("theme", "[auto | dark | light | none]", "theme")
def theme(shell, rest: str) -> None:
    """Choose the colours"""
    if rest:
        change(shell, "theme", rest)
        shell.reader.set_theme(rest)
    print(f"theme {shell.settings.theme}")


@command("info", "[on | off]")
def info(shell, rest: str) -> None:
    """A line with shape, dtype and grad_fn under each result"""
    shell.settings.info = {"on": True, "off": False}.get(rest, not shell.settings.info)
    print(f"info {'on' if shell.settings.info else 'off'}")


@command("engine")
def engine(shell, rest: str) -> None:
    """Which engine runs here, and how to start with the other one"""
    import numpy
    import torch

    if shell.settings.engine == "torch":
        print(f"PyTorch {torch.__version__}; start with `gradrepl` alone for the embedded engine")
    else:
        print(f"embedded, on NumPy {numpy.__version__}; start with `gradrepl --engine torch` for an installed PyTorch")


@command("config", "[setting [value]]")
def config(shell, rest: str) -> None:
    """The settings, or change one for this session; config.toml sets them for good"""
    words = rest.replace("=", " ").split()
    if len(words) > 1:
        change(shell, words[0], {"true": True, "on": True, "false": False, "off": False}.get(words[1], number(words[1])))
    elif words and words[0] not in SETTINGS:
        raise CommandError(f"no setting {words[0]!r}{nearest(words[0], SETTINGS) or '; %config lists them'}")
    names = words[:1] or list(SETTINGS)
    print(table([(name, repr(getattr(shell.settings, name)), SETTINGS[name][2]) for name in names]))
    if not words:
        print(f"\n{os.path.join(config_folder(), 'config.toml')}\n{os.path.join(state_folder(), 'history')}")


def number(word: str) -> Any:
    return int(word) if word.isdigit() else word


def change(shell, name: str, value: Any) -> None:
    shell.settings.take(name, value, f"%{name}")
    if shell.settings.warnings:
        raise CommandError(shell.settings.warnings.pop())


@command("watch", "NAME", "expression")
def watch_(shell, rest: str) -> None:
    """Show the tree of a name again after each input that changes it; without a name, list what is watched"""
    shell.watched.command(rest)


@command("unwatch", "[NAME]", "expression")
def unwatch_(shell, rest: str) -> None:
    """Stop watching a name, or all"""
    shell.watched.stop(rest)
