"""The interactive shell: a reader, an evaluator and a printer in a loop. Imports NumPy and the engine behind the first prompt."""

import os
import sys
from typing import Any

from gradrepl.repl.commands import CommandError, as_command
from gradrepl.repl.evaluate import Evaluator, remember_last_error, user_traceback
from gradrepl.repl.namespace import Preloaded
from gradrepl.repl.paste import inputs, is_transcript
from gradrepl.repl.plain import PlainReader
from gradrepl.repl.printer import Printer, paint
from gradrepl.repl.scripts import exit_status, watch_engine
from gradrepl.repl.session import Entry, Session
from gradrepl.repl.settings import Settings
from gradrepl.repl.streams import has_reader, silence
from gradrepl.repl.tracebacks import show_error
from gradrepl.repl.watch import Watched

LEAVE = {"exit", "quit", ":q", ":quit", ":wq", ":x"}


class Leave:
    """What `exit` and `quit` are in the shell."""

    def __repr__(self) -> str:
        return "exit, exit(status) or Ctrl-D leaves"

    def __call__(self, code: Any = None) -> None:
        raise SystemExit(code)


class Shell:
    """Runs what is entered: Python in the evaluator, `%name` and `obj?` as commands. Knows nothing of how it was typed."""

    def __init__(self, namespace: dict[str, Any], settings: Settings | None = None):
        self.namespace = namespace
        self.settings = settings or Settings()
        self.preloaded = Preloaded(namespace)
        self.evaluator = Evaluator(namespace, self.preloaded)
        self.printer = Printer(self.settings)
        self.session = Session()
        self.reader: Any = PlainReader()
        self.next_text = ""  # what %load and %edit leave at the prompt
        self.watched = Watched(self)
        self.watching = False
        self.foreign: set[str] = set()
        self.preloaded.offer({"watch": self.watched.start, "unwatch": self.watched.stop})

    def feed(self, text: str) -> None:
        """Run what was typed or pasted; the examples of a transcript one after the other, each shown with its prompt."""
        transcript = is_transcript(text)
        for source in inputs(text):
            if transcript:
                print(paint(">>> ", "prompt", self.settings) + source.replace("\n", "\n... "))
            if not self.run(source):
                break

    def run(self, source: str) -> bool:
        """Run one input, show its value or its error. False where an interrupt asks to drop the rest of a paste."""
        name = source.strip()
        if name in LEAVE and (name.startswith(":") or name not in self.namespace):
            raise SystemExit(0)
        try:
            self.execute(source)
        except SystemExit:
            raise
        except CommandError as error:
            print(error, file=sys.stderr)
            return True
        except BaseException as error:
            self.fail(error)
            return not isinstance(error, KeyboardInterrupt)
        remember_last_error(None)
        return True

    def execute(self, source: str) -> None:
        if not self.watching:  # from the first input on, for later questions
            self.watching = True
            watch_engine()
        self.namespace.pop("__warningregistry__", None)  # it counts by line number, and every input begins at line 1
        command = as_command(source)
        good, shown = False, self.printer.count
        try:
            if command:
                command(self)
            else:
                self.evaluator.run(source)
            good = True
        finally:
            self.session.add(Entry(source, good, python=not command, shown=self.printer.count > shown))
        self.watched.look()

    def fail(self, error: BaseException) -> None:
        """Show an error as Python would: through `sys.excepthook`, where the user has put one."""
        traceback = user_traceback(error.__traceback__)
        error.__traceback__ = traceback
        if isinstance(error, BrokenPipeError) and not has_reader(sys.stdout):
            raise error  # whoever reads the session has left
        remember_last_error(error)
        restore_streams()
        try:
            if sys.excepthook is not sys.__excepthook__:
                return sys.excepthook(type(error), error, traceback)
        except Exception as failure:
            print("Error in sys.excepthook:", file=sys.stderr)
            show_error(type(failure), failure, user_traceback(failure.__traceback__))
        try:
            show_error(type(error), error, traceback, theme=self.settings.theme)
        except (OSError, ValueError):
            silence(sys.stderr)  # standard error is gone; the session is not

    def own_names(self) -> dict[str, Any]:
        """The names of the session that are not there from the start."""
        return {name: value for name, value in self.namespace.items() if not name.startswith("__") and not self.preloaded.gave(name, value)}

    def reset(self) -> int:
        """Forget the names of the session, but not those of a program around it. Returns their number."""
        names = [name for name in self.own_names() if name not in self.foreign]
        for name in names:
            del self.namespace[name]
        self.preloaded.start()
        self.printer.forget()
        remember_last_error(None)
        return len(names)

    def loop(self, reader) -> int:
        """Read and run until the user leaves. Returns the exit status."""
        self.reader = reader
        while True:
            try:
                text, self.next_text = reader.read(self.next_text), ""
                self.feed(text)
                restore_streams()
            except KeyboardInterrupt:
                self.interrupted()
            except EOFError:
                return 0
            except BrokenPipeError:
                silence(sys.stdout)
                return 1
            except SystemExit as error:
                return exit_status(error)

    def interrupted(self) -> None:
        try:
            print("KeyboardInterrupt", file=sys.stderr)
        except (KeyboardInterrupt, OSError, ValueError, AttributeError):
            pass  # a held Ctrl-C; the next prompt is all that matters


def restore_streams() -> None:
    """Write out what is buffered; give back a standard stream that the input has closed or replaced by what is no stream."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if not is_usable(getattr(sys, name)):
            setattr(sys, name, reopened(descriptor))


def is_usable(stream: Any) -> bool:
    """Whether something can be written, after writing out what is buffered."""
    try:
        if hasattr(stream, "flush"):
            stream.flush()
    except BrokenPipeError:
        raise
    except Exception:  # whatever a stand-in of the user's may raise
        return False
    return hasattr(stream, "write") and not getattr(stream, "closed", False)


def reopened(descriptor: int):
    """A closed standard stream again, on the terminal where its file descriptor is gone too."""
    try:
        return os.fdopen(os.dup(descriptor), "w", buffering=1)
    except OSError:
        return open("/dev/tty" if os.path.exists("/dev/tty") else os.devnull, "w", buffering=1)
