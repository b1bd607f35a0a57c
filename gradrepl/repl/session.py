"""What was entered in this session, and how it went. Imports the standard library only."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One input: its text, whether it ran to its end, and whether it is Python (and no command)."""

    source: str
    good: bool
    python: bool = True


class Session:
    """The inputs in order, for %history, %save and %edit."""

    def __init__(self):
        self.entries: list[Entry] = []

    def add(self, source: str, good: bool, python: bool = True) -> None:
        self.entries.append(Entry(source, good, python))

    def script(self) -> str:
        """The inputs that ran, as a program without prompts, commands and failures."""
        return "".join(f"{entry.source}\n" for entry in self.entries if entry.good and entry.python)
