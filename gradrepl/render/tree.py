"""A graph as a tree for the terminal. Imports graphs and render only.

Nodes stand in print order. An op's heaviest branch keeps its indent, lighter ones before it are indented by one: the indent of n nodes is
at most log2(n). What stands elsewhere is referred to: ↩ above, ↓ below.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from gradrepl.graphs.collection import collection_paused
from gradrepl.graphs.fold import Fold
from gradrepl.graphs.model import Graph, Node, count
from gradrepl.graphs.order import Columns, dominators

from . import labels
from .drawing import fold_id, folded, members, root_places

MOST_LINES = 1000  # of a graph without repeats; fold=False prints more
MOST_PATHS = 6  # of one root that are named
MOST_LETTERS = 60  # of a path to a root
STYLES = {
    "root": "bold green",
    "op": "",
    "custom": "magenta",
    "leaf": "bold blue",
    "inplace": "yellow",
    "fold": "bold",
    "cut": "red",
    "fault": "bold red",
    "reference": "blue",
    "omitted": "italic",
}
ASCII = str.maketrans({"│": "|", "├": "+", "■": "*", "↩": "^", "↓": "v", "×": "x", "…": "~", "·": ",", "⋯": "~", "→": "->"})


class Line(NamedTuple):
    """One line of the tree."""

    depth: int
    branch: bool  # one begins here
    edge: str  # "0: "
    text: str
    detail: str = ""  # what may be cut off where there is no room
    id: str = ""
    kind: str = "op"

    @property
    def guide(self) -> str:
        return guides(self.depth, self.branch)


class Words(NamedTuple):
    """What a line says of the outputs of an op."""

    text: str
    numbers: list[str]
    badges: list[str]


class Tree:
    """The tree of a graph: `str()` gives its lines, rich prints them in colour and cut to the width of the terminal."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def lines(self) -> list[Line]:
        with collection_paused():
            lines = [
                line
                if line.text.isprintable() and line.detail.isprintable()
                else line._replace(text=labels.visible(line.text), detail=labels.visible(line.detail))
                for line in Writer(self.graph).lines()
            ]
        return shortened_to(MOST_LINES, lines) if self.graph.look.fold is True else lines

    def __str__(self) -> str:
        text = "\n".join(map(plain, self.lines()))
        return text if carries_lines(getattr(sys.stdout, "encoding", None)) else text.translate(ASCII)

    __repr__ = __str__

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.cells import cell_len
        from rich.segment import Segment
        from rich.text import Text

        styles = {style: console.get_style(style) for style in {"dim", "cyan", *STYLES.values()}}
        uniform = console.color_system is None and not console.record  # no style will be seen: a line is one piece
        newline = Segment.line()
        for line in self.lines():
            parts = styled(line, options.max_width, options.ascii_only)
            whole = "".join([words for words, _ in parts])
            if options.justify or cell_len(whole) > options.max_width:
                yield Text.assemble(*parts, no_wrap=True, overflow="ellipsis")
                continue
            # as it is: a Text, which looks for where to wrap, takes most of the time of a long tree
            yield from [Segment(whole)] if uniform else [Segment(words, styles[style]) for words, style in parts]
            yield newline


def carries_lines(encoding: str | None) -> bool:
    try:
        "│├■↩×…".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain(line: Line) -> str:
    detail, id = "  " + line.detail if line.detail else "", " " + line.id if line.id else ""
    return f"{line.guide}{line.edge}{line.text}{detail}{id}"


@cache
def guides(depth: int, branch: bool) -> str:
    """What leads down to a line at this depth."""
    return "│ " * (depth - 1) + ("├ " if branch else "│ ") if depth else ""


def styled(line: Line, width: int, ascii_only: bool) -> list[tuple[str, str]]:
    """The words of the line with their styles, its detail shortened so that the id has room."""
    head, text, detail, id = line.guide + line.edge, line.text, line.detail, line.id and " " + line.id
    if detail:
        room = width - len(head) - len(text) - len(id) - 2
        detail = "  " + labels.shortened(detail, room) if room > 3 else ""
    parts = [pair for pair in ((head, "dim"), (text, STYLES[line.kind]), (detail, "dim"), (id, "cyan")) if pair[0]]
    return [(words.translate(ASCII), style) for words, style in parts] if ascii_only else parts


def shortened_to(most: int, lines: list[Line]) -> list[Line]:
    if len(lines) <= most:
        return lines
    head, tail = most * 4 // 5, most // 5
    gap = Line(0, False, "", f"… {count(len(lines) - head - tail, 'line')} left out; fold=False prints them all", kind="omitted")
    return [*lines[:head], gap, *lines[-tail:]]


class Writer:
    """Lays out the lines: every op under the op that alone leads to it."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.nodes = graph, graph.nodes
        self.top = len(self.nodes)
        self.parent = self.dominated()
        self.depth, self.branches = self.indents()
        self.fold_of = self.find_folds()
        self.consumers = self.find_consumers()
        self.written: dict[int, str] = {}  # the leaves that stand above -> what refers to them
        self.said: dict[int, Words] = {}

    def dominated(self) -> list[int]:
        """The op above each op, self.top above the first ones."""
        leaf = [node.kind == "leaf" for node in self.nodes]
        targets = Columns((), [node.inputs for node in self.nodes], leaf).targets
        self.ops = [place for place, is_leaf in enumerate(leaf) if not is_leaf]
        return dominators(self.ops, targets, [place for place in dict.fromkeys(root_places(self.graph)) if not leaf[place]])

    def indents(self) -> tuple[list[int], set[int]]:
        """The depth of each op, and those that begin a branch: an op's heaviest branch goes on, lighter ones before it begin aside."""
        top, parent = self.top, self.parent
        size, depth, branches, heaviest = [1] * (top + 1), [0] * (top + 1), set(), [-1] * (top + 1)
        for op in reversed(self.ops):
            size[parent[op]] += size[op]
        for op in self.ops:
            rival = heaviest[parent[op]]
            if rival < 0 or size[op] >= size[rival]:
                heaviest[parent[op]] = op
        for op in self.ops:
            above = parent[op]
            depth[op] = depth[above]
            if op < heaviest[above] and above != top:
                depth[op] += 1
                branches.add(op)
        return depth, branches

    def find_folds(self) -> dict[int, Fold]:
        cards = folded(self.graph).cards
        found: dict[int, Fold] = {}
        for card in cards:
            if isinstance(card, Fold):
                found |= dict.fromkeys(members(card), card)
        return found

    def find_consumers(self) -> dict[int, list[str]]:
        """Who uses an op that several use."""
        shared: dict[int, list[str]] = {place: [] for place, node in enumerate(self.nodes) if node.uses > 1 and node.kind != "leaf"}
        if shared:
            for node in self.nodes:
                for target in dict.fromkeys(edge[0] for edge in node.inputs if edge):
                    if target in shared:
                        shared[target].append(node.id)
        return shared

    def lines(self) -> Iterator[Line]:
        for note in self.graph.notes:
            yield Line(0, False, "", note, kind="omitted")
        yield from self.without_graph()
        shown: set[int] = set()
        for place, node in enumerate(self.nodes):
            if node.kind == "leaf":
                if place not in self.written and place not in self.fold_of and not node.uses:
                    yield self.leaf_line(place, 0, False, "")
                continue
            card = self.fold_of.get(place)
            if card is None:
                yield from self.op_lines(place, node)
            elif id(card) not in shown:
                shown.add(id(card))
                yield self.fold_line(place, card)

    def without_graph(self) -> Iterator[Line]:
        for root in self.graph.roots:
            if root.node is None and root.tensor:
                text = f"{labels.root_name(root, self.graph)} {labels.type_text(root.tensor)}".strip()
                yield Line(0, False, "", text, f"no grad_fn: {labels.cut_text(root.cut)}", kind="cut")

    def op_lines(self, place: int, node: Node) -> Iterator[Line]:
        depth, inputs, words = self.depth[place], node.inputs, self.words(node)
        name = ("! " if node.faults else "") + labels.op_name(node, self.graph)
        title = f"{name} {words.text}" if words.text else name
        kind = "fault" if node.faults else node.kind
        yield Line(depth, place in self.branches, self.edge_text(place), title, self.detail(place, node, words), node.id, kind)
        several = len(inputs) - inputs.count(None) > 1
        for position, edge in enumerate(node.inputs):
            if edge and self.parent_of(edge[0]) != place:
                yield self.input_line(edge, depth + several, several, f"{position}: " if several else "", place)

    def parent_of(self, place: int) -> int:
        return -1 if self.nodes[place].kind == "leaf" else self.parent[place]

    def edge_text(self, place: int) -> str:
        """Which input of the op above this is: "0: ", "0, 1: "; nothing if there is only one."""
        parent = self.parent[place]
        if parent == self.top:
            paths = [root.path for root in self.graph.roots if root.node == place and root.path]
            shown = [short_path(path) for path in (paths if len(paths) <= MOST_PATHS else [*paths[:2], "…", paths[-1]])]
            return f"{', '.join(shown)}: " if paths else ""
        inputs = self.nodes[parent].inputs
        if len(inputs) - inputs.count(None) < 2:
            return ""
        positions = [str(position) for position, edge in enumerate(inputs) if edge and edge[0] == place]
        return f"{', '.join(positions)}: " if positions else ""

    def words(self, node: Node) -> Words:
        """What the line says of the outputs, which plain ops have in common."""
        known = self.said.get(id(node.outputs))
        if known is None:
            badges = [badge for output in node.outputs for badge in labels.badges(output)]
            numbers = list(map(labels.numbers_text, node.outputs))
            known = self.said[id(node.outputs)] = Words(labels.outputs_text(node), numbers, badges)
        return known

    def detail(self, place: int, node: Node, words: Words) -> str:
        parts = [labels.arguments_text(node), labels.constants_text(node), *words.numbers]
        parts += [f"{name} cut: {labels.cut_text(cut)}" for _, name, cut in labels.cuts_of(node)]
        if node.kind == "custom":
            parts.append("your Function" + (f", {labels.source_text(node.defined)}" if node.defined else ""))
        if node.kind == "inplace":
            parts += labels.writing_texts(node)
        users = self.consumers.get(place, ())
        if len(users) > 1 or users and self.nodes[self.parent[place]].id not in users:
            parts.append("used by " + (", ".join(users) if len(users) < 5 else f"{len(users)} nodes"))
        parts += [*self.saved(node), *words.badges, *node.faults]
        return " · ".join(filter(None, parts))

    def saved(self, node: Node) -> list[str]:
        """What the op keeps, if that is asked for; or else only that it is gone."""
        if self.graph.look.saved:
            return [f"saved {labels.saved_text(saved)}: {labels.saved_detail(saved)}" for saved in node.saved]
        return ["freed"] if node.saved and any(saved.state == "freed" for saved in node.saved) else []

    def input_line(self, edge: tuple[int, int], depth: int, branch: bool, label: str, below: int) -> Line:
        """An input that stands elsewhere, or a leaf."""
        place, output = edge
        node = self.nodes[place]
        if node.kind == "leaf":
            return self.leaf_line(place, depth, branch, label)
        arrow = "↩" if place < below else "↓"
        which = f" out {output}" if len(node.outputs) > 1 else ""
        return Line(depth, branch, label, f"{labels.op_name(node, self.graph)}{which} {arrow}", "", node.id, "reference")

    def leaf_line(self, place: int, depth: int, branch: bool, label: str) -> Line:
        node = self.nodes[place]
        if place in self.written:
            return Line(depth, branch, label, self.written[place], "", node.id, "reference")
        name = labels.names_text(node.names) or "leaf"
        self.written[place] = f"■ {name} ↩"
        output = node.outputs[0]
        value = f" = {output.value.text}" if output.value else ""
        parts = labels.leaf_text(node).split(" · ")
        return Line(
            depth,
            branch,
            label,
            f"■ {name}{value} {parts[0]}",
            ", ".join(["leaf", *parts[1:], *node.faults]),
            node.id,
            "fault" if node.faults else "leaf",
        )

    def fold_line(self, place: int, card: Fold) -> Line:
        text = f"⋯ {card.run.title} × {card.count}"
        detail = f"blocks 2-{card.count + 1} of {card.count + 2}, as the one above"
        return Line(self.depth[place], place in self.branches, "", text, detail, fold_id(self.graph, card), "fold")


def short_path(path: str) -> str:
    """A path into a nest; of a long one the ends."""
    half = MOST_LETTERS // 2
    return path if len(path) <= MOST_LETTERS else f"{path[:half]}…{path[-half:]}"
