"""A drawing as DOT, Graphviz's language. Imports render only."""

from __future__ import annotations

import html
from typing import Any

import graphviz
from graphviz.quoting import quote

from .clusters import Cluster
from .drawing import Arrow, Card, Drawing
from .labels import visible
from .theme import FONT, LEGEND, STROKES, THEMES, Theme, role_of

SHAPES: dict[str, dict[str, str]] = {
    "root": {"style": "filled,rounded", "penwidth": "2.2"},
    "op": {"style": "filled,rounded"},
    "custom": {"shape": "component", "style": "filled"},
    "leaf": {"style": "filled", "peripheries": "2"},
    "alias": {"style": "filled,dashed"},
    "constant": {"style": "filled,dashed"},
    "saved": {"shape": "note", "style": "filled"},
    "inplace": {"style": "filled,rounded", "penwidth": "2"},
    "cut": {"style": "filled,dashed"},
    "fold": {"style": "filled", "peripheries": "2"},
    "omitted": {"style": "filled,dashed"},
}
ARROWS: dict[str, dict[str, str]] = {
    "flow": {"weight": "20"},
    "leaf": {"weight": "1"},
    "root": {"weight": "20"},
    "cut": {"style": "dashed"},
    "constant": {"style": "dashed", "weight": "1"},
    "saved": {"style": "dotted", "dir": "none", "weight": "3", "color": STROKES["saved"]},
}


def to_dot(drawing: Drawing, theme: str = "auto", tips: bool = True) -> str:
    """Return the DOT text of a drawing, with or without tooltips."""
    return Writer(drawing, THEMES[theme], tips).text()


class Writer:
    """Writes a drawing in the colours of a theme."""

    def __init__(self, drawing: Drawing, theme: Theme, tips: bool) -> None:
        self.drawing, self.theme, self.tips = drawing, theme, tips
        self.noted = {arrow.source: arrow.target for arrow in drawing.arrows if arrow.kind == "saved"}

    def text(self) -> str:
        theme = self.theme
        graph = graphviz.Digraph("gradrepl")
        graph.attr("graph", bgcolor=theme.ground, fontname=FONT, fontcolor=theme.dim, fontsize="10", nodesep="0.28", ranksep="0.34")
        graph.attr("graph", rankdir="TB" if self.drawing.flow == "backward" else "BT", label=self.caption(), labelloc="b", labeljust="l")
        graph.attr("node", fontname=FONT, fontsize="11", shape="box", margin="0.10,0.05", height="0.3", fontcolor=theme.text)
        graph.attr("edge", fontname=FONT, fontsize="9", fontcolor=theme.dim, color=theme.line, arrowsize="0.65")
        for card in self.drawing.cards:
            graph.node(card.id, self.label(card), **self.card_style(card))
        for cluster in self.drawing.clusters:
            self.add_cluster(graph, cluster)
        for number, arrow in enumerate(self.drawing.arrows):
            graph.edge(arrow.source, arrow.target, id=f"a{number}", **self.arrow_style(arrow))
        framed = {id for cluster in self.drawing.clusters for id in cluster.all_members()}
        self.put_beside(graph, [id for id in self.noted if id not in framed])
        return graph.source

    def put_beside(self, graph: graphviz.Digraph, ids: list[str]) -> None:
        """Put notes beside their ops, within the frame that both are in."""
        for id in ids:
            if id in self.noted:
                graph.body.append(f"\t{{rank=same; {quote(id)}; {quote(self.noted[id])}}}\n")

    def add_cluster(self, above: graphviz.Digraph, cluster: Cluster) -> None:
        """Draw a frame round a module."""
        with above.subgraph(name=f"cluster_{cluster.path}") as frame:
            frame.attr(
                label=f"<{self.small(cluster.path)}>",
                labelloc="t",
                labeljust="r",
                style="rounded,dashed",
                color=self.theme.line,
                penwidth="0.8",
            )
            frame.attr(**{"class": "module"})
            for id in cluster.members:
                frame.node(id)
            self.put_beside(frame, cluster.members)
            for inner in cluster.inner:
                self.add_cluster(frame, inner)

    def card_style(self, card: Card) -> dict[str, str]:
        role = "warning" if card.fault else role_of(card.kind)
        style = {
            "id": card.id,
            "class": f"card {card.kind}",
            "color": STROKES[role],
            "fillcolor": self.theme.fill(role),
            **SHAPES[card.kind],
        }
        if card.fault:
            style["penwidth"] = "2"
        if card.tip and self.tips:
            style["tooltip"] = escaped(card.tip)
        return style

    def arrow_style(self, arrow: Arrow) -> dict[str, Any]:
        style: dict[str, Any] = {"class": f"arrow {arrow.kind}", **ARROWS[arrow.kind]}
        if arrow.label and self.drawing.labelled:
            style["label"] = escaped(arrow.label, pad=" ")
        if self.drawing.flow == "forward" and arrow.kind in ("flow", "leaf", "root"):
            style["dir"] = "back"
        return style

    def label(self, card: Card) -> str:
        title = markup(card.title)
        lines = [markup(line) if place in card.heads else self.small(line) for place, line in enumerate(card.lines)]
        bold = title if card.kind in ("saved", "alias", "cut") else f"<b>{title}</b>"
        if card.nodes == (card.id,):  # an op or a leaf: the id that the tree and messages call it by
            bold += f" {self.small(card.id)}"
        return f"<{'<br/>'.join([bold, *lines])}>"

    def small(self, text: str) -> str:
        return f'<font point-size="9" color="{self.theme.dim}">{markup(text)}</font>'

    def caption(self) -> str:
        words = [self.small(note) for note in (self.drawing.caption, *self.drawing.notes)]
        rows = "".join(f'<tr><td align="left">{line}</td></tr>' for line in words)
        legend = f'<tr><td align="left">{self.legend_table()}</td></tr>'
        return f'<<table border="0" cellborder="0" cellspacing="0" cellpadding="2">{legend}{rows}</table>>'

    def legend_table(self) -> str:
        kinds = self.drawing.kinds
        width = sum(26 + 5 * len(LEGEND[kind][0]) for kind in kinds)  # a fixed size, or the table is stretched to the widest line below
        cells = "".join(map(self.swatch, kinds))
        size = f'fixedsize="true" width="{width}" height="22"'
        return f'<table border="0" cellborder="0" cellspacing="3" cellpadding="2" {size}><tr>{cells}</tr></table>'

    def swatch(self, kind: str) -> str:
        words, border = LEGEND[kind]
        role, style = role_of(kind), ' style="dashed"' if border == "dashed" else ""
        box = (
            f'<td border="1"{style} color="{STROKES[role]}" bgcolor="{self.theme.fill(role)}" width="12" height="10" fixedsize="true"></td>'
        )
        return box + f"<td>{self.small(words)} </td>"


def markup(text: str) -> str:
    """Text within an HTML-like label, where Graphviz reads backslashes too."""
    return html.escape(visible(text)).replace("\\", "\\\\")


def escaped(text: str, pad: str = "") -> str:
    """A plain label: Graphviz reads backslashes."""
    lines = [pad + visible(line).replace("\\", "\\\\") + pad for line in text.split("\n")]
    return "\\n".join(lines)
