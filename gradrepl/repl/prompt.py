"""Reads inputs on a terminal, with prompt_toolkit. Pygments and the rest of the program are imported behind the first prompt."""

import os
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_session
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory, ConditionalAutoSuggest
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.layout.processors import TabsProcessor
from prompt_toolkit.lexers import DynamicLexer
from prompt_toolkit.output import create_output
from prompt_toolkit.patch_stdout import patch_stdout

from gradrepl.repl.history import HistoryFile
from gradrepl.repl.keys import key_bindings
from gradrepl.repl.plain import MORE, PROMPT
from gradrepl.repl.settings import warn
from gradrepl.repl.streams import has_colour


class FileBackedHistory(History):
    """prompt_toolkit's history over the history file."""

    def __init__(self, file: HistoryFile):
        super().__init__()
        self.file = file

    def load_history_strings(self) -> Iterable[str]:
        return reversed(self.file.load())

    def store_string(self, string: str) -> None:
        self.file.append(string)


def harmless(function: Callable[..., Any], otherwise: Any) -> Callable[..., Any]:
    """The function, or `otherwise` where it fails: what only decorates the prompt meets every object there is, and must not end it."""

    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception:
            return otherwise

    return called


class NamespaceCompleter(Completer):
    """Offers what `complete(text before the cursor)` finds."""

    def __init__(self, complete: Callable[[str], Iterable[Any]]):
        self.complete = harmless(complete, ())

    def get_completions(self, document, complete_event):
        for found in self.complete(document.text_before_cursor):
            yield Completion(found.text, start_position=-found.replaces, display=found.shown or found.text, display_meta=found.meta)


class TerminalReader:
    """The line editor. `toolbar()` gives the text of the bottom line, `complete(text)` the candidates, `warm_up()` runs once in a thread
    when the first prompt is on the screen."""

    def __init__(self, settings, *, complete, toolbar, warm_up, history: HistoryFile | None = None, input=None, output=None):
        self.settings, self.warm_up = settings, harmless(warm_up, None)
        self.lexer: Any = None
        # private copies: closing sys.stdin or sys.stdout in the session must not close the prompt
        self.input = input or create_input(os.fdopen(os.dup(0), closefd=True))
        self.output = output or create_output(os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace"))
        self.history = FileBackedHistory(history) if history else InMemoryHistory()
        self.colour = has_colour(sys.stdout) and settings.theme != "none"
        self.told = self.asked = False
        self.toolbar = harmless(toolbar, "")
        # the session of the process, not one of our own: only that is known to the thread which prints above the prompt
        whole = get_app_session()
        whole._input, whole._output = self.input, self.output
        self.session = self.new_session(complete)
        self.session.app.ttimeoutlen = 0.05
        self.session.app.timeoutlen = 0.3
        self.session.app.renderer.cpr_not_supported_callback = None  # a terminal that does not answer is no news to the user
        self.session.app.after_render += self.first_render

    def new_session(self, complete) -> PromptSession:
        from gradrepl.repl.themes import prompt_style

        return PromptSession(
            [("class:prompt", PROMPT)],
            multiline=True,
            editing_mode=EditingMode.VI if self.settings.keys == "vi" else EditingMode.EMACS,
            lexer=DynamicLexer(lambda: self.lexer),
            style=prompt_style(self.settings.theme if self.colour else "none"),
            include_default_pygments_style=False,
            completer=NamespaceCompleter(complete),
            complete_while_typing=False,
            complete_in_thread=True,
            enable_history_search=True,
            enable_suspend=True,
            enable_open_in_editor=True,
            tempfile_suffix=".py",
            auto_suggest=ConditionalAutoSuggest(AutoSuggestFromHistory(), Condition(lambda: self.settings.suggestions)),
            history=self.history,
            prompt_continuation=lambda width, number, wrapped: [("class:prompt", " " * width if wrapped else MORE)],
            bottom_toolbar=lambda: self.toolbar(self.session) if self.settings.toolbar else None,
            input_processors=[TabsProcessor(tabstop=4, char1=" ", char2=" ")],
            key_bindings=key_bindings(),
        )

    def first_render(self, app) -> None:
        app.after_render -= self.first_render
        threading.Thread(target=self.warm, args=(app, app.loop), daemon=True).start()

    def warm(self, app, loop) -> None:
        self.warm_up()
        if self.colour:
            from prompt_toolkit.lexers import PygmentsLexer
            from pygments.lexers.python import PythonLexer

            self.lexer = PygmentsLexer(PythonLexer)
        try:
            loop.call_soon_threadsafe(app.invalidate)  # from this thread `invalidate` itself may meet an application that is just ending
        except RuntimeError:
            pass  # the input was over first, and its loop is closed: nothing is left to draw

    def read(self, default: str = "") -> str:
        """One input. Raises KeyboardInterrupt for Ctrl-C and EOFError for Ctrl-D, as `input` does."""
        if self.asked:
            self.to_line_start()
        self.asked = True
        with patch_stdout(raw=True):
            text = self.session.prompt(default=default)
        self.tell_failure()
        return text

    def to_line_start(self) -> None:
        """Put the prompt on a line of its own after output without a newline: as many spaces as a line is wide end on the same line only
        where they began at its start."""
        self.output.write_raw(" " * self.output.get_size().columns + "\r")
        self.output.flush()

    def tell_failure(self) -> None:
        """Say once that the history cannot be saved; it is kept in memory."""
        file = getattr(self.history, "file", None)
        if file and file.failure and not self.told:
            self.told = True
            warn(file.failure)

    def set_keys(self, keys: str) -> None:
        self.session.editing_mode = EditingMode.VI if keys == "vi" else EditingMode.EMACS

    def set_theme(self, theme: str) -> None:
        from gradrepl.repl.themes import prompt_style

        self.colour = has_colour(sys.__stdout__) and theme != "none"
        self.session.style = prompt_style(theme if self.colour else "none")
