"""What was entered in this session, and how it went. Imports the standard library only."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One input: its text, whether it ran to its end, whether it is Python (and no command), and whether it showed a value."""

    source: str
    good: bool
    python: bool = True
    shown: bool = False


class Session:
    """The inputs in order, for %history, %save and %edit."""

    def __init__(self):
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)

    def text(self) -> str:
        """The Python that ran so far."""
        return "".join(f"{entry.source}\n" for entry in self.entries if entry.good and entry.python)
