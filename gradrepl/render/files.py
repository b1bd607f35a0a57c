"""Write a graph to a file, whose suffix names the format. Imports graphs and render only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.model import Graph

from .drawing import draw
from .layout import system_dot


def svg(graph: Graph) -> bytes:
    from .svg import to_svg

    return to_svg(graph, graph.look.theme).encode()


def png(graph: Graph) -> bytes:
    from .svg import to_png

    return to_png(graph, graph.look.theme)


def dot(graph: Graph) -> bytes:
    from .dot import to_dot

    return to_dot(draw(graph), graph.look.theme).encode()


def pdf(graph: Graph) -> bytes:
    return system_dot(dot(graph).decode(), "pdf")


def mmd(graph: Graph) -> bytes:
    from .mermaid import to_mermaid

    return to_mermaid(draw(graph)).encode()


def html(graph: Graph) -> bytes:
    from .html import to_html

    return to_html(graph).encode()


def json(graph: Graph) -> bytes:
    from .data import to_json

    return to_json(graph).encode()


def txt(graph: Graph) -> bytes:
    from .tree import Tree

    return f"{Tree(graph)}\n".encode()


FORMATS: dict[str, Callable[[Graph], bytes]] = {
    "svg": svg,
    "png": png,
    "pdf": pdf,
    "dot": dot,
    "html": html,
    "mmd": mmd,
    "json": json,
    "txt": txt,
}


def save_graph(graph: Graph, path: str | os.PathLike) -> Path:
    """Write the graph, whole or not at all, and return the path.

    Raises GraphError for an unknown suffix, a missing folder, a place that cannot be written to.
    """
    target = Path(path).expanduser()
    check_place(target)
    write(target, FORMATS[target.suffix[1:].lower()](graph))
    return target


def check_place(target: Path) -> None:
    if target.suffix[1:].lower() not in FORMATS:
        raise GraphError(f"{target.name}: the suffix names the format, one of {' '.join('.' + format for format in FORMATS)}")
    check_folder(target)
    if target.is_dir():
        raise GraphError(f"{target} is a folder")


def check_folder(target: Path) -> None:
    if not target.parent.is_dir():
        raise GraphError(f"there is no folder {target.parent}")


def write(target: Path, content: bytes) -> None:
    """Write a temporary file beside the target, then rename it: nobody sees half a file. One that is replaced passes its mode on."""
    check_folder(target)
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(name, mode)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise GraphError(f"cannot write {target}: {error.strerror or error}") from None


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
