"""Lay out DOT with graphviz-pure, within a time limit; a system `dot` does what it cannot. Imports graphs.errors only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager

from gradrepl.graphs.errors import GraphError

SECONDS = 10.0
PATIENCE = 1.0  # seconds after which a terminal is told what goes on


class TooSlow(Exception):
    """The layout took longer than it may."""


def program() -> str:
    """The path of graphviz-pure's `dot`, which is installed beside the interpreter."""
    folders = [os.path.dirname(sys.executable), sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    found = shutil.which("graphviz-pure", path=os.pathsep.join(folders)) or shutil.which("graphviz-pure")
    if not found:
        raise GraphError("graphviz-pure is missing, which lays out pictures: pip install graphviz-pure")
    return found


def lay_out(dot: str, format: str, *options: str, seconds: float = SECONDS) -> bytes:
    """Return a picture of the DOT text as svg or png.

    Raises TooSlow after `seconds`; Ctrl-C stops the layout too.
    """
    return run([program(), f"-T{format}", *options], dot, seconds)


def system_dot(dot: str, format: str, seconds: float = SECONDS) -> bytes:
    """Return a picture in a format that only an installed Graphviz writes."""
    found = shutil.which("dot")
    if not found:
        raise GraphError(
            f"{format} needs Graphviz's own dot, which is not installed (apt install graphviz); svg, png and html need nothing"
        )
    return run([found, f"-T{format}"], dot, seconds)


def run(command: list[str], text: str, seconds: float) -> bytes:
    name = os.path.basename(command[0])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            picture, words = wait(process, text.encode(), seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise TooSlow(f"{name} took longer than {seconds:.0f} s") from None
        except BaseException:  # Ctrl-C
            process.kill()
            raise
    if process.returncode:
        lines = [line for line in words.decode(errors="replace").splitlines() if line.strip() and not line.startswith("Warning")]
        raise GraphError(f"{name} failed: {lines[-1] if lines else f'status {process.returncode}'}")
    return picture


def wait(process: subprocess.Popen, text: bytes, seconds: float) -> tuple[bytes, bytes]:
    """Wait for the layout; say what goes on if that takes long and somebody is there to read it."""
    try:
        return process.communicate(text, timeout=min(seconds, PATIENCE))
    except subprocess.TimeoutExpired:
        if seconds <= PATIENCE:
            raise
    with progress(f"laying out the picture, at most {seconds:.0f} s … Ctrl-C stops it"):
        return process.communicate(timeout=seconds - PATIENCE)


@contextmanager
def progress(words: str) -> Iterator[None]:
    """Show a line on a terminal's standard error as long as the work goes on."""
    shown = sys.stderr is not None and sys.stderr.isatty()
    if shown:
        print(words, end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print("\r" + " " * len(words) + "\r", end="", file=sys.stderr, flush=True)
