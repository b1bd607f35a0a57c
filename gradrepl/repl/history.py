"""The history file: every input appended as it is entered, the newest kept. Imports the standard library only.

The format is plain text: a line `# time` before each entry, and every line of the entry after a `+`.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows: appending in one write is all there is
    fcntl = None  # type: ignore[assignment]

KEPT = 10_000


class HistoryFile:
    """A file of inputs that several sessions write at once. What cannot be written is kept in memory, and said once."""

    def __init__(self, path: str, kept: int = KEPT):
        self.path, self.kept = path, kept
        self.failure: str | None = None

    def append(self, text: str) -> None:
        entry = "\n# " + time.strftime("%Y-%m-%d %H:%M:%S") + "\n" + "".join(f"+{line}\n" for line in text.split("\n"))
        try:
            with self.locked() as descriptor:
                os.write(descriptor, entry.encode(errors="replace"))
        except OSError as error:
            self.failure = self.failure or f"the history is not saved ({error.strerror}: {self.path})"

    @contextlib.contextmanager
    def locked(self) -> Iterator[int]:
        """The file opened for appending, held until the end; opened again where another session has just replaced it."""
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                if fcntl:
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                if is_still(descriptor, self.path):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)

    def load(self) -> list[str]:
        """The entries, oldest first. A broken or missing file is an empty history."""
        try:
            with open(self.path, encoding="utf-8", errors="replace", newline="\n") as file:
                return entries(file.read())[-self.kept :]
        except OSError:
            return []

    def trim(self) -> None:
        """Rewrite a file that has grown a tenth over what is kept."""
        try:
            with self.locked():
                with open(self.path, encoding="utf-8", errors="replace", newline="\n") as file:
                    parts = file.read().split("\n# ")
                if len(parts) > self.kept * 1.1:
                    self.replace("".join(f"\n# {part}" for part in parts[-self.kept :]))
        except OSError as error:
            self.failure = self.failure or f"the history is not saved ({error.strerror}: {self.path})"

    def replace(self, text: str) -> None:
        descriptor, name = tempfile.mkstemp(dir=os.path.dirname(self.path))  # mode 0600
        with open(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        os.replace(name, self.path)


def is_still(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def entries(text: str) -> list[str]:
    """Read the format; lines that belong to no entry are passed over."""
    found: list[list[str]] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("+"):
            if not inside:
                found.append([])
            found[-1].append(line[1:])
        inside = line.startswith("+")
    return ["\n".join(lines) for lines in found]
