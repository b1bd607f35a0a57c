"""A shell without a terminal, that is fed texts and tells what it showed."""

import builtins
import sys
import warnings

import pytest


class Fed:
    """A shell and what it wrote."""

    def __init__(self, capsys):
        from gradrepl.repl.namespace import new_main
        from gradrepl.repl.shell import Shell
        from gradrepl.repl.tracebacks import show_warning

        self.capsys = capsys
        self.main = new_main()
        self.shell = Shell(self.main.__dict__)
        sys.displayhook = self.shell.printer.display
        warnings.showwarning = show_warning

    def __call__(self, *texts: str) -> str:
        """Feed the texts; what came on standard output."""
        return self.both(*texts)[0]

    def both(self, *texts: str) -> tuple[str, str]:
        self.capsys.readouterr()
        for text in texts:
            self.shell.feed(text)
        return tuple(self.capsys.readouterr())

    def error(self, *texts: str) -> str:
        return self.both(*texts)[1]

    @property
    def names(self):
        return self.main.__dict__


@pytest.fixture(autouse=True)
def shell_speaks_to_the_embedded_engine(embedded_torch):
    """Every test of the shell starts as the shell does."""


@pytest.fixture
def fed(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(builtins, "_", None, raising=False)
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        monkeypatch.delattr(sys, name, raising=False)
    return Fed(capsys)
