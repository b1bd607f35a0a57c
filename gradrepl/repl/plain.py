"""Reads inputs line by line where there is no terminal to edit on: TERM=dumb, a pipe. Imports the standard library only."""

import select
import sys

from gradrepl.repl.paste import is_transcript, wants_more
from gradrepl.repl.streams import is_terminal

PROMPT, MORE = ">>> ", "... "


class PlainReader:
    """Prompts and lines, as Python's own prompt without readline; a transcript that is pasted is taken whole."""

    def read(self, default: str = "") -> str:
        if default:
            print(f"{default}\n(there is no line editor here; %run runs a file)")
        lines = [self.line(PROMPT)]
        while wants_more("\n".join(lines)) or is_transcript(lines[0]) and more_is_waiting():
            try:
                lines.append(self.line(MORE if not is_transcript(lines[0]) else ""))
            except EOFError:
                break
        return "\n".join(lines)

    def line(self, prompt: str) -> str:
        if is_terminal(sys.stdin) and is_terminal(sys.stdout):
            return input(prompt)
        # as Python does it: the prompts of a session that is read from a pipe go to standard error
        sys.stderr.write(prompt)
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def set_keys(self, keys: str) -> None: ...

    def set_theme(self, theme: str) -> None: ...


def more_is_waiting() -> bool:
    try:
        return bool(select.select([sys.stdin], [], [], 0.05)[0])
    except (OSError, ValueError):
        return False
