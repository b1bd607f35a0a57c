"""SVG and PNG of a graph, drawn more coarsely where the layout takes too long. Imports graphs and render only."""

from __future__ import annotations

import re

from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.model import Graph

from .dot import to_dot
from .drawing import draw
from .layout import SECONDS, TooSlow, lay_out
from .theme import dark_rules

DPI = 110
COARSER = (800, 300, 100)  # cards, one attempt after the other


def laid_out(graph: Graph, format: str, *options: str, theme: str, seconds: float = SECONDS) -> bytes:
    """Return the picture as svg or png; where the layout takes longer than it may, one with fewer cards, which says so."""
    slow = ""
    for most in COARSER:
        try:
            return lay_out(to_dot(draw(graph, most, (slow,) if slow else ()), theme), format, *options, seconds=seconds)
        except TooSlow:
            slow = f"more than {most} cards took too long to lay out"
    raise GraphError("the picture takes too long to lay out; .json, .txt and .dot hold the whole graph")


def to_svg(graph: Graph, theme: str = "auto", seconds: float = SECONDS) -> str:
    """Return the SVG text: no fixed inches, and with theme "auto" light or dark as the reader's system is."""
    text = laid_out(graph, "svg", theme=theme, seconds=seconds).decode()
    text = text[text.index("<svg") :]
    width = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+)', text)
    natural = f"{float(width[1]) * 4 / 3:.0f}px" if width else "100%"  # a point is 4/3 of a CSS pixel
    text = re.sub(r'<svg width="[^"]*" height="[^"]*"', f'<svg role="img" style="max-width:{natural}"', text, count=1)
    style = f"<style>@media (prefers-color-scheme:dark){{{dark_rules()}}}</style>" if theme == "auto" else ""
    head, tail = text.split(">", 1)
    return f"{head}>\n{style}{tail}"


def to_png(graph: Graph, theme: str = "auto", seconds: float = SECONDS) -> bytes:
    return laid_out(graph, "png", f"-Gdpi={DPI}", theme=theme, seconds=seconds)
