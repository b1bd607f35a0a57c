"""A drawing as Mermaid, which Markdown pages show. Imports render only."""

from __future__ import annotations

from .drawing import Arrow, Card, Drawing
from .labels import visible
from .theme import LEGEND, STROKES, role_of

# brackets that give a card its shape
SHAPES = {
    "root": ("([", "])"),
    "op": ("(", ")"),
    "custom": ("[[", "]]"),
    "leaf": ("[", "]"),
    "alias": ("[", "]"),
    "constant": ("[", "]"),
    "saved": (">", "]"),
    "inplace": ("(", ")"),
    "cut": ("[", "]"),
    "fold": ("[[", "]]"),
    "omitted": ("[", "]"),
}
LINES = {"saved": "-.-", "cut": "-.->", "constant": "-.->"}
ENTITIES = {ord(sign): f"#{ord(sign)};" for sign in '"<>&#;`\\{}|'}


def to_mermaid(drawing: Drawing) -> str:
    """Return a flowchart."""
    lines = [f"flowchart {'TD' if drawing.flow == 'backward' else 'BT'}"]
    lines += [f"    %% {visible(note)}" for note in (drawing.caption, *drawing.notes)]
    lines += [f"    {card_text(card)}" for card in drawing.cards]
    lines += [f"    {arrow_text(arrow, drawing.flow)}" for arrow in drawing.arrows]
    for kind in drawing.kinds:
        dashes = ",stroke-dasharray:4 3" if LEGEND[kind][1] == "dashed" else ""
        lines.append(f"    classDef {kind} stroke:{STROKES[role_of(kind)]},fill:{STROKES[role_of(kind)]}2E{dashes}")
    return "\n".join(lines) + "\n"


def name(id: str) -> str:
    return id.replace("-", "_to_")


def escaped(text: str) -> str:
    return visible(text).translate(ENTITIES)


def card_text(card: Card) -> str:
    before, after = SHAPES[card.kind]
    words = "<br/>".join([f"<b>{escaped(card.title)}</b>", *map(escaped, card.lines)])
    return f'{name(card.id)}{before}"{words}"{after}:::{"fault" if card.fault else card.kind}'


def arrow_text(arrow: Arrow, flow: str) -> str:
    line = LINES.get(arrow.kind, "-->")
    label = ", ".join(arrow.label.split("\n"))
    ends = name(arrow.source), name(arrow.target)
    if flow == "forward" and arrow.kind in ("flow", "leaf", "root", "constant"):
        ends = ends[::-1]
    return f'{ends[0]} {line}{f"""|"{escaped(label)}"|""" if label else ""} {ends[1]}'
