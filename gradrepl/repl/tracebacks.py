"""Shows an error: the user's own lines with carets. Imports the standard library only."""

import sys
import traceback
from types import TracebackType


def show_error(kind: type[BaseException], error: BaseException, tb: TracebackType | None, theme: str = "none") -> None:
    """Write an error and its traceback to standard error."""
    lines = traceback.format_exception(kind, error, tb)
    stream = sys.stderr
    if stream is not None:
        stream.write("".join(lines))
        stream.flush()
