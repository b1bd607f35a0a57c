"""What `why` gives back: a sentence, the evidence for it, and what to do. Imports nothing of the project."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One cause, in a sentence; what shows it; what to write instead."""

    cause: str  # a short name: "detach", "non-leaf"
    sentence: str
    evidence: tuple[str, ...] = ()
    fix: str = ""

    def __str__(self) -> str:
        lines = [self.sentence, *(f"  {line}" for line in self.evidence)]
        return "\n".join(lines + [f"  Fix: {self.fix}"] * bool(self.fix))

    __repr__ = __str__

    def __rich__(self) -> Any:
        from rich.text import Text

        text = Text(self.sentence, style="bold")
        for line in self.evidence:
            text.append(f"\n  {line}", style="not bold dim")
        if self.fix:
            text.append("\n  Fix: ", style="not bold green").append(self.fix, style="not bold")
        return text


def answer(cause: str, sentence: str, *evidence: str | None, fix: str = "") -> Answer:
    """An answer; evidence that is not known is left out."""
    return Answer(cause, in_input(sentence), tuple(in_input(line) for line in evidence if line), in_input(fix))


def in_input(text: str) -> str:
    """Something happens on a line, but in an input."""
    return re.sub(r"\bon (input \d+)", r"in \1", text)
