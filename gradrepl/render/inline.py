"""Pictures in the terminal, by the protocols of kitty and iTerm2. Imports nothing of the project.

A terminal is asked what it can do when the first picture is to be shown, for at most 0.2 s; never through tmux or screen, never in a pipe.
"""

from __future__ import annotations

import base64
import os
import re
import select
import sys
import time
from collections.abc import Mapping
from typing import Any

SECONDS = 0.2
CHUNK = 4096  # bytes of base64 in one message of kitty's protocol, no more
# is a picture of one pixel welcome, what is your name, and last what every terminal answers: device attributes
QUERY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[>q\x1b[c"
ATTRIBUTES = re.compile(r"\x1b\[\?[\d;]*c")
ITERM = re.compile(r"\x1bP>\|(iTerm2|WezTerm|mintty)")
PROTOCOLS = ("kitty", "iterm")

_asked: dict[int, str | None] = {}  # by file descriptor, once in the life of the process


def protocol(output: Any = None, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return "kitty", "iterm", or None where pictures cannot be shown; GRADREPL_IMAGES=kitty, iterm or none decides instead of a query."""
    output = output or sys.stdout
    wish = environment.get("GRADREPL_IMAGES", "").lower()
    if wish:
        return wish if wish in PROTOCOLS else None
    if not may_ask(output, environment):
        return None
    descriptor = output.fileno()
    if descriptor not in _asked:
        if waiting(sys.stdin.fileno()):  # what was typed ahead would be taken for the answer: ask at the next picture
            return None
        _asked[descriptor] = understood(ask(sys.stdin.fileno(), descriptor))
    return _asked[descriptor]


def may_ask(output: Any, environment: Mapping[str, str]) -> bool:
    """Is this a terminal that will not be hurt by a question?"""
    if environment.get("TMUX") or environment.get("STY") or environment.get("TERM", "dumb").startswith(("dumb", "screen", "tmux", "linux")):
        return False
    if environment.get("TERM_PROGRAM") == "Apple_Terminal":  # it prints the question
        return False
    try:
        return output.isatty() and sys.stdin.isatty() and os.name == "posix"
    except (AttributeError, ValueError):  # replaced or closed
        return False


def waiting(descriptor: int, seconds: float = 0) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


def ask(source: int, target: int, seconds: float = SECONDS) -> str:
    """Send the query and return the answer, with the terminal as it was before."""
    import termios
    import tty

    before, answer, end = termios.tcgetattr(source), "", time.monotonic() + seconds
    try:
        tty.setcbreak(source, termios.TCSANOW)
        os.write(target, QUERY.encode())
        while not ATTRIBUTES.search(answer) and waiting(source, max(0.0, end - time.monotonic())):
            answer += os.read(source, 1024).decode(errors="replace")
    finally:
        termios.tcsetattr(source, termios.TCSANOW, before)
    return answer


def understood(answer: str) -> str | None:
    return "kitty" if "\x1b_Gi=31;OK" in answer else "iterm" if ITERM.search(answer) else None


def encoded(png: bytes, protocol: str) -> str:
    """Return the text that shows a PNG in a terminal, with a newline after it."""
    data = base64.b64encode(png).decode()
    if protocol == "iterm":
        return f"\x1b]1337;File=inline=1;size={len(png)};preserveAspectRatio=1:{data}\x07\n"
    chunks = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)] or [""]
    heads = ["a=T,f=100,"] + [""] * (len(chunks) - 1)
    more = [1] * (len(chunks) - 1) + [0]
    return "".join(f"\x1b_G{head}m={rest};{chunk}\x1b\\" for head, rest, chunk in zip(heads, more, chunks, strict=True)) + "\n"


def show(png: bytes, output: Any = None) -> bool:
    """Show a PNG in the terminal. Return False, having written nothing, where that cannot be done."""
    output = output or sys.stdout
    known = protocol(output)
    if known is None:
        return False
    output.write(encoded(png, known))
    output.flush()
    return True
