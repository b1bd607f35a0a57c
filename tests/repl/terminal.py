"""A real terminal for tests: gradrepl on a pty, its screen read by a terminal emulator. Waits for text and never sleeps."""

import os
import sys
import time
from importlib.metadata import PackageNotFoundError, version

import pexpect
import pyte
import pytest

KEYS = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "tab": "\t", "enter": "\r", "escape": "\x1b",
    "backspace": "\x7f",
    "meta-enter": "\x1b\r", "c-c": "\x03", "c-d": "\x04", "c-r": "\x12", "c-z": "\x1a", "c-l": "\x0c",
}  # fmt: skip
LIMIT = 20


def skip_without_torch():
    """Skip a test that starts the shell on PyTorch. By what is installed: in this process `torch` may be the embedded engine."""
    try:
        version("torch")
    except PackageNotFoundError:
        pytest.skip("needs an installed PyTorch")


class Terminal:
    """`type` sends text, `press` keys, `wait` reads until a text is on the screen."""

    def __init__(self, home, *words, columns=100, lines=40, command=None, **environment):
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "GRADREPL", "NO_COLOR", "COLORFGBG", "TMUX"))
        }
        paths = os.pathsep.join(path for path in sys.path if path)
        env = {**clean, "HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": paths, "GRADREPL_IMAGES": "none", **environment}
        program = command or [sys.executable, "-m", "gradrepl", *map(str, words)]
        self.screen = pyte.HistoryScreen(columns, lines, history=2000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.process = pexpect.spawn(program[0], program[1:], dimensions=(lines, columns), env=env, cwd=str(home), timeout=LIMIT)

    def pump(self, seconds=0.02) -> bool:
        """Read what has come; answer where the cursor is when asked. False at the end of the program."""
        try:
            data = self.process.read_nonblocking(1 << 16, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        before, asked, after = data.partition(b"\x1b[6n")
        self.stream.feed(before)
        if asked:
            self.process.send(f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R")
            self.stream.feed(after.replace(b"\x1b[6n", b""))
        return True

    @property
    def text(self) -> str:
        """The lines that have scrolled away and those on the screen."""
        past = ["".join(line[column].data for column in range(self.screen.columns)) for line in self.screen.history.top]
        return "\n".join(line.rstrip() for line in [*past, *self.screen.display]).rstrip()

    @property
    def line(self) -> str:
        """The line with the cursor."""
        return self.screen.display[self.screen.cursor.y].rstrip()

    def wait(self, wanted, times=1):
        """Until a text is there as many times, or a question is answered with yes."""
        end = time.monotonic() + LIMIT
        alive = True
        while not (wanted() if callable(wanted) else self.text.count(wanted) >= times):
            assert alive and time.monotonic() < end, f"waited for {wanted!r}; the screen:\n{self.text}"
            alive = self.pump()
        return self

    def ready(self):
        """Until an empty prompt waits under everything else."""
        return self.wait(lambda: self.line == ">>>" and self.screen.cursor.x == 4)

    def type(self, text):
        self.process.send(text)
        return self

    def press(self, *keys):
        for key in keys:
            self.process.send(KEYS[key])
        return self

    def paste(self, text):
        return self.type(f"\x1b[200~{text}\x1b[201~")

    def run(self, text, shown=None):
        """Type a line, press Enter, wait for what it shows and the next prompt."""
        self.ready().type(text)
        self.wait(lambda: text[-6:].strip() in self.line)
        self.press("enter")
        if shown is not None:
            self.wait(shown)
        return self

    def end(self) -> int:
        """Wait for the program's end; its exit status."""
        while self.pump():
            pass
        self.process.wait()
        return self.process.exitstatus if self.process.exitstatus is not None else -self.process.signalstatus

    def close(self):
        self.process.close(force=True)
