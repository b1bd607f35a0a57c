"""Lay out DOT with graphviz-pure, within a time limit; a system `dot` does what it cannot. Imports graphs.errors only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

from gradrepl.graphs.errors import GraphError

SECONDS = 10.0


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
        raise GraphError(f"{format} needs Graphviz's own dot, which is not installed (apt install graphviz); svg, png and html need nothing")
    return run([found, f"-T{format}"], dot, seconds)


def run(command: list[str], text: str, seconds: float) -> bytes:
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise TooSlow from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise GraphError(f"{os.path.basename(command[0])} failed: {words[-1] if words else f'status {done.returncode}'}")
    return done.stdout
