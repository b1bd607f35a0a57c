"""SVG and PNG of a graph, drawn more coarsely where the layout takes too long. Imports graphs and render only."""

from __future__ import annotations

import re
from html import escape, unescape

from gradrepl.graphs.errors import GraphError
from gradrepl.graphs.model import Graph

from .dot import to_dot
from .drawing import MOST_CARDS, Drawing, draw
from .labels import visible
from .layout import SECONDS, TooSlow, lay_out
from .theme import dark_rules

DPI = 110
MODEST, MOST_SIDE, MOST_PIXELS = 150, 30_000, 40_000_000  # cards, pixels of a PNG: 3 s
TITLE = re.compile(r'(<g id="([^"]+)" class="(?:node|edge)[^>]*>\s*)<title>[^<]*</title>')
SIZE = re.compile(r'<svg width="([\d.]+)pt" height="([\d.]+)pt"')
COARSER = (MOST_CARDS, 300, 100)  # cards, one attempt after the other


def laid_out(graph: Graph, format: str, theme: str, seconds: float = SECONDS) -> tuple[Drawing, bytes]:
    """Return what was drawn and the picture; where the layout takes longer than it may, one with fewer cards, which says so."""
    slow: tuple[str, ...] = ()
    if graph.look.fold is False:
        seconds *= 3  # who asks for everything has time
    for most in COARSER:
        drawing = draw(graph, most, slow)
        dot = to_dot(drawing, theme, tips=False)
        try:
            options = [f"-Gdpi={resolution(drawing, dot, seconds)}"] if format == "png" else []
            return drawing, lay_out(dot, format, *options, seconds=seconds)
        except TooSlow:
            slow = (f"{len(drawing.cards)} cards took longer than {seconds:.0f} s to lay out, so these are fewer",)
            graph = graph.drawn(fold=True)
    raise GraphError("the picture takes too long to lay out; .json, .txt and .dot hold the whole graph")


def resolution(drawing: Drawing, dot: str, seconds: float) -> int:
    """Dots per inch of a PNG: fewer for a picture so large that painting it would take half a minute."""
    if len(drawing.cards) <= MODEST:
        return DPI
    found = SIZE.search(lay_out(dot, "svg", seconds=seconds).decode())
    inches = [float(size) / 72 for size in found.groups()] if found else [1.0, 1.0]
    return int(max(1, min(DPI, MOST_SIDE / max(inches), (MOST_PIXELS / inches[0] / inches[1]) ** 0.5)))


def picture(graph: Graph, theme: str = "auto", seconds: float = SECONDS) -> tuple[Drawing, str]:
    """Return what was drawn and its SVG, without fixed inches; each card's title tells what its label leaves out."""
    drawing, content = laid_out(graph, "svg", theme, seconds)
    text = content.decode()
    text = text[text.index("<svg") :]
    text = SIZE.sub(sized, text, count=1)
    tips = {card.id: card.tip or card.title for card in drawing.cards}
    tips |= {f"a{number}": f"{arrow.source} → {arrow.target}\n{arrow.label}".strip() for number, arrow in enumerate(drawing.arrows)}

    def titled(match: re.Match) -> str:
        return f"{match[1]}<title>{escape(visible_lines(tips[unescape(match[2])]))}</title>"

    return drawing, TITLE.sub(titled, text).replace("<title>gradrepl</title>", f"<title>{escape(drawing.caption)}</title>", 1)


def sized(match: re.Match) -> str:
    """The size in CSS pixels, of which a point is 4/3, and never wider than the page."""
    width, height = (f"{float(size) * 4 / 3:.0f}" for size in match.groups())
    return f'<svg role="img" width="{width}" height="{height}" style="max-width:100%;height:auto"'


def visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def to_svg(graph: Graph, theme: str = "auto", seconds: float = SECONDS) -> str:
    """Return the SVG text, with theme "auto" light or dark as the reader's system is."""
    _, text = picture(graph, theme, seconds)
    style = f"<style>@media (prefers-color-scheme:dark){{{dark_rules()}}}</style>" if theme == "auto" else ""
    head, tail = text.split(">", 1)
    return f"{head}>\n{style}{tail}"


def to_png(graph: Graph, theme: str = "auto", seconds: float = SECONDS) -> bytes:
    return laid_out(graph, "png", theme, seconds)[1]
