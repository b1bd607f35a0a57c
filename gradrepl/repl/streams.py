"""What the standard streams can show: a terminal or not, colour or not. Imports the standard library only."""

import os
import sys


def is_terminal(stream) -> bool:
    """Whether a stream leads to a terminal; a replaced or closed one does not."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError, OSError):
        return False


def is_dumb() -> bool:
    """A terminal that cannot move its cursor: plain lines only."""
    return os.environ.get("TERM", "") in ("dumb", "unknown", "") and os.name == "posix"


def has_colour(stream) -> bool:
    """Whether to write colour codes: a terminal that knows them, and nobody has said no (https://no-color.org)."""
    return is_terminal(stream) and not is_dumb() and not os.environ.get("NO_COLOR")


def has_reader(stream) -> bool:
    """Whether anyone still reads what is written: False at the end of a pipe into a program that has left, as `| head -1`."""
    import select

    try:
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLOUT)
        return not any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))
    except (AttributeError, ValueError, OSError):
        return True


def silence(stream) -> None:
    """Lead a broken pipe into nothing, so that the interpreter does not complain about it once more at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (AttributeError, ValueError, OSError):
        setattr(sys, "stdout" if stream is sys.stdout else "stderr", None)
