"""A graph as one self-contained web page. Imports graphs and render only."""

from __future__ import annotations

import html
import json
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from gradrepl.graphs.model import Graph

from . import labels
from .data import as_data
from .drawing import Drawing, draw
from .svg import picture
from .theme import dark_rules

MOST_NODES = 20_000  # whose details a page holds; beyond, only what is drawn
MOST_OPENED = 250  # cards of a picture with one fold opened
MOST_PICTURES = 8


@cache
def part(name: str) -> str:
    return resources.files("gradrepl.render").joinpath("page", name).read_text(encoding="utf-8")


def to_html(graph: Graph) -> str:
    """Return the page."""
    pictures, only = drawn_pictures(graph), None
    if len(graph.nodes) > MOST_NODES:
        only = {node for each in pictures.values() for card in each["cards"] for node in card["nodes"][:1]}
        for each in pictures.values():
            each["notes"].append(f"details of {len(only)} of {len(graph.nodes)} nodes are in this page; a .json file holds them all")
    data = as_data(graph, only)
    data |= {"pictures": pictures, "steps": [step._asdict() for step in graph.steps], "theme": graph.look.theme}
    fields = {"title": html.escape(title(graph)), "css": styles(), "script": part("page.js"), "data": embedded(data)}
    return Template(part("page.html")).substitute(fields)


def title(graph: Graph) -> str:
    return "Graph of " + labels.visible(labels.names_text(tuple(labels.root_name(root, graph) for root in graph.roots)))


def styles() -> str:
    dark = dark_rules(":root.dark svg ")
    return part("page.css") + dark + f"@media (prefers-color-scheme:dark){{{dark_rules(':root:not(.light) svg ')}}}"


def embedded(data: Any) -> str:
    """JSON that no text in it can end."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def drawn_pictures(graph: Graph) -> dict[str, dict[str, Any]]:
    """The picture as it is, and one for each fold that opens into few enough cards."""
    whole, text = picture(graph)
    found = {"whole": as_picture(whole, text)}
    folds = [card.id for card in whole.cards if card.kind == "fold" and len(card.nodes) <= MOST_OPENED]
    for id in folds[:MOST_PICTURES]:
        opened = graph.drawn(fold=(id,))
        if len(draw(opened).cards) <= MOST_OPENED:
            found[id] = as_picture(*picture(opened))
    return found


def as_picture(drawing: Drawing, text: str) -> dict[str, Any]:
    cards = [
        {"id": card.id, "kind": card.kind, "title": card.title, "lines": card.lines, "tip": card.tip, "nodes": list(card.nodes)}
        for card in drawing.cards
    ]
    arrows = [{"id": f"a{number}", "source": arrow.source, "target": arrow.target} for number, arrow in enumerate(drawing.arrows)]
    return {"svg": text, "cards": cards, "arrows": arrows, "notes": list(drawing.notes)}
