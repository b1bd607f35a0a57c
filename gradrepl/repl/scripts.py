"""Runs a script, `-c`, `-m` or standard input as Python would, then saves and shows the graph of the last value. Imports nothing heavy."""

import ast
import os
import re
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from gradrepl.repl.evaluate import Evaluator, user_traceback
from gradrepl.repl.namespace import Preloaded, new_main
from gradrepl.repl.streams import silence

# a program that asks something about its graph; others are not watched, which would cost 13 ms and slow every op
ASKS = re.compile(r"gradrepl|(?<![\w.])(why|explain|step|check|saved|diff|graph|tree|listing|save)\(")


def watch_engine() -> None:
    """Have the engine watched from here on, in this thread: pictures and answers name the lines that made a node."""
    import torch  # noqa: F401, the engine is watched once it is there

    from gradrepl.insight import observe

    observe()


def run_program(options) -> int:
    """Run what the command line names and give the exit status."""
    program = Program(options)
    if options.outputs or options.tree or options.interactive:
        watch_engine()
    status = program.run()
    if options.outputs or options.tree:
        delivered = program.deliver()
        status = status or delivered
    if options.interactive:
        from gradrepl.repl.start import interact

        return interact(options, program.main)
    return status


class Program:
    """One run: its namespace, its text, and the value it ended with."""

    def __init__(self, options):
        self.options = options
        self.main = new_main()
        self.namespace: dict[str, Any] = self.main.__dict__
        self.source = ""
        self.shown: Any = None

    def run(self) -> int:
        sys.argv = [{"code": "-c", "stdin": "-"}.get(self.options.kind, self.options.program), *self.options.arguments]
        if self.options.kind == "shell":
            sys.argv[0] = ""
        try:
            getattr(self, f"run_{self.options.kind}")()
            flush()
        except SystemExit as error:
            return exit_status(error)
        except BrokenPipeError:
            silence(sys.stdout)
            return 1
        except BaseException as error:
            return report(error)
        return 0

    def run_code(self) -> None:
        set_first_path("")
        self.evaluate(self.options.program, None, show=True)

    def run_stdin(self) -> None:
        set_first_path("")
        self.evaluate(sys.stdin.read() if sys.stdin else "", None, show=True)

    run_shell = run_stdin

    def run_file(self) -> None:
        path = self.options.program
        if os.path.isdir(path):  # a folder with a __main__.py, as Python takes it
            return self.run_path(path)
        source = read_script(path)
        set_first_path(os.path.dirname(os.path.abspath(path)))
        self.namespace |= {"__file__": path, "__cached__": None}
        self.evaluate(source, path, show=False)

    def run_path(self, path: str) -> None:
        import runpy

        self.namespace |= runpy.run_path(path, run_name="__main__")

    def run_module(self) -> None:
        import runpy

        set_first_path(os.getcwd())
        self.namespace |= runpy.run_module(self.options.program, run_name="__main__", alter_sys=True)

    def evaluate(self, source: str, filename: str | None, show: bool) -> None:
        self.source = source
        if ASKS.search(source):
            watch_engine()
        hook = sys.displayhook
        if show:
            sys.displayhook = self.display
        try:
            Evaluator(self.namespace, Preloaded(self.namespace, fresh=True), None if show else self.keep).run(source, filename)
        finally:
            if sys.displayhook == self.display:
                sys.displayhook = hook

    def keep(self, value: Any) -> None:
        self.shown = value

    def display(self, value: Any) -> None:
        self.shown = value
        if value is not None:
            from gradrepl.repl.printer import show

            show(value)

    def deliver(self) -> int:
        """Write the files and the tree that were asked for."""
        from gradrepl.repl.printer import show

        value = last_graph(self.shown, self.source, self.namespace)
        import gradrepl

        wanted: list[Callable[[], Any]] = [partial(gradrepl.save, value, path, names=self.namespace) for path in self.options.outputs]
        if self.options.tree:
            wanted.append(lambda: show(gradrepl.tree(value, names=self.namespace)))
        try:
            reasons = dict.fromkeys(filter(None, map(failure, wanted)))
        except BrokenPipeError:
            silence(sys.stdout)
            return 1
        for reason in reasons:
            print(f"gradrepl: {reason}", file=sys.stderr)
        return 1 if reasons else 0


def failure(give: Callable[[], Any]) -> str:
    """Give one of the things asked for, or return why that cannot be; the others have their turn all the same."""
    try:
        give()
    except BrokenPipeError:
        raise
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def last_graph(shown: Any, source: str, namespace: dict[str, Any]) -> Any:
    """The value whose graph is meant by `-o` and `--tree`: the last expression's, else the last assigned one that has a graph."""
    if has_graph(shown):
        return shown
    try:
        names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    except (SyntaxError, ValueError):
        names = []
    candidates = [namespace[name] for name in [*namespace, *in_reading_order(names)] if name in namespace]
    return next((value for value in reversed(candidates) if has_graph(value)), shown)


def read_script(path: str) -> str:
    """A script's text, decoded as Python decodes it; one that is missing ends the program as Python ends it."""
    import tokenize

    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"gradrepl: can't open file {path!r}: {reason}", file=sys.stderr)
        raise SystemExit(2) from None


def in_reading_order(names: list[ast.Name]) -> list[str]:
    return [name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))]


def has_graph(value: Any) -> bool:
    """Whether a tensor with a history, a node, a graph, or a nest of them. Looks at the type first: a user's object is asked nothing."""
    if isinstance(value, (list, tuple)):
        return any(has_graph(item) for item in value[:100])
    if isinstance(value, dict):
        return has_graph(list(value.values()))
    from gradrepl.repl.facts import is_node, is_tensor

    kind = type(value)
    if is_node(value) or kind.__name__ == "Graph" and kind.__module__.startswith("gradrepl."):
        return True
    return is_tensor(value) and value.grad_fn is not None


def set_first_path(folder: str) -> None:
    """Put the script's folder where Python puts it: in the place of the one that gradrepl itself was started from."""
    if not sys.flags.safe_path and sys.path:
        sys.path[0] = folder


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()


def exit_status(error: SystemExit) -> int:
    """Python's own rule: None is 0, an integer itself, anything else is printed to standard error and 1."""
    if error.code is None or isinstance(error.code, int):
        return error.code or 0
    flush()
    print(error.code, file=sys.stderr)
    return 1


def report(error: BaseException) -> int:
    """Hand an error to `sys.excepthook`, without the frames of this program, and give the exit status."""
    try:
        flush()
    except OSError:
        pass  # standard output is gone; the error still has standard error to go to
    traceback = user_traceback(error.__traceback__)
    hook = sys.excepthook
    if hook is sys.__excepthook__:
        from gradrepl.repl.tracebacks import show_error as hook
    hook(type(error), error.with_traceback(traceback), traceback)
    if isinstance(error, KeyboardInterrupt) and os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 1
