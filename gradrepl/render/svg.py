"""SVG and PNG of a drawing. Imports render only."""

from __future__ import annotations

import re

from .dot import to_dot
from .drawing import Drawing
from .layout import SECONDS, lay_out
from .theme import dark_rules

DPI = 110


def to_svg(drawing: Drawing, theme: str = "auto", seconds: float = SECONDS) -> str:
    """Return the SVG text: no fixed inches, and with theme "auto" light or dark as the reader's system is."""
    text = lay_out(to_dot(drawing, theme), "svg", seconds=seconds).decode()
    start = text.index("<svg")
    text = text[start:]
    width, height = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', text).groups()  # type: ignore[union-attr]
    text = re.sub(r'<svg width="[^"]*" height="[^"]*"', f'<svg style="max-width:{float(width) * 4 / 3:.0f}px" role="img"', text, count=1)
    style = f"<style>@media (prefers-color-scheme:dark){{{dark_rules()}}}</style>" if theme == "auto" else ""
    head, tail = text.split(">", 1)
    return f"{head}>\n{style}{tail}"


def to_png(drawing: Drawing, theme: str = "light", seconds: float = SECONDS) -> bytes:
    return lay_out(to_dot(drawing, theme), "png", f"-Gdpi={DPI}", seconds=seconds)
