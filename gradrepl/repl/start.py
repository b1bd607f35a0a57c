"""Opens the shell: settings, namespace, line editor, hooks of `sys`. NumPy and the engine are imported behind the first prompt."""

import builtins
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from gradrepl.repl.history import HistoryFile
from gradrepl.repl.namespace import new_main
from gradrepl.repl.settings import config_folder, load_settings, state_folder, warn
from gradrepl.repl.shell import Leave, Shell
from gradrepl.repl.streams import is_dumb, is_terminal
from gradrepl.repl.tracebacks import show_warning


def interact(options, main: ModuleType | None = None) -> int:
    """Open the shell, in a fresh `__main__` or in the one that a script has left. Returns the exit status."""
    from gradrepl.cli import choose_engine, complain

    settings = load_settings(options)
    for warning in settings.warnings:
        warn(warning)
    if main is None:
        if (reason := choose_engine(settings.engine)) is not None:
            return complain(reason, 1)
        main = new_main()
        sys.argv = [""]
        if sys.path and not sys.flags.safe_path:
            sys.path[0] = ""
    shell = Shell(main.__dict__, settings)
    with hooked(shell):
        if options.config:
            run_startup(shell, os.path.join(config_folder(), "startup.py"))
        return shell.loop(new_reader(shell))


def embed(namespace: dict[str, Any] | None = None) -> None:
    """Open a shell here, in the caller's namespace, and go on when it is left.

    Inside a function the shell sees the local variables, and changes copies of them; in a module it works on the module's own names.
    """
    frame = sys._getframe(1)
    if namespace is None:
        namespace = frame.f_globals if frame.f_locals is frame.f_globals else {**frame.f_globals, **frame.f_locals}
    settings = load_settings()
    settings.engine = present_engine()
    shell = Shell(namespace, settings)
    shell.foreign = set(namespace)
    try:
        with hooked(shell):
            shell.loop(new_reader(shell))
    finally:
        shell.preloaded.take_back()


def present_engine() -> str:
    """The engine that the program around uses; the embedded one where it uses none and PyTorch is not installed."""
    from importlib.util import find_spec

    from gradrepl.embedding import use_embedded_torch

    if "torch" in sys.modules:
        return "embedded" if sys.modules["torch"] is sys.modules.get("gradrepl.torch") else "torch"
    if "gradrepl.torch" in sys.modules or find_spec("torch") is None:
        use_embedded_torch()
        return "embedded"
    return "torch"


@contextmanager
def hooked(shell: Shell) -> Iterator[None]:
    """Let values and warnings be shown by the shell, and `exit` leave it, until the end."""
    before = sys.displayhook, warnings.showwarning, vars(builtins).get("exit"), vars(builtins).get("quit")
    sys.displayhook, warnings.showwarning = shell.printer.display, show_warning
    builtins.exit = builtins.quit = Leave()  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.displayhook, warnings.showwarning, builtins.exit, builtins.quit = before  # type: ignore[assignment]


def run_startup(shell: Shell, path: str) -> None:
    """Run the user's start-up script in the namespace. A broken one is one warning."""
    if not os.path.exists(path):
        return
    try:
        with open(path, encoding="utf-8") as file:
            shell.evaluator.run(file.read(), path)
    except Exception as error:
        warn(f"{path}: {type(error).__name__}: {error}; going on without the rest of it")


def new_reader(shell: Shell):
    """The line editor on a terminal that can move its cursor, plain lines elsewhere."""
    if is_dumb() or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        from gradrepl.repl.plain import PlainReader

        return PlainReader()
    from gradrepl.repl.prompt import TerminalReader

    kept = shell.settings.history
    history = HistoryFile(os.path.join(state_folder(), "history"), kept) if kept else None
    return TerminalReader(
        shell.settings,
        complete=lambda text: completions(text, shell),
        toolbar=lambda session: bottom_line(shell, session),
        warm_up=lambda: warm_up(shell, history),
        history=history,
    )


def completions(text: str, shell: Shell):
    from gradrepl.repl.completion import complete

    return complete(text, shell)


def bottom_line(shell: Shell, session):
    from gradrepl.repl.toolbar import toolbar

    return toolbar(shell, session)


def warm_up(shell: Shell, history: HistoryFile | None) -> None:
    """What the first inputs will need, imported while the user reads the prompt."""
    shell.preloaded.put_all()
    if history:
        history.trim()
