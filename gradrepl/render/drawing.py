"""Turn a graph into the cards and arrows of a picture: folded, within what a layout can do. Imports graphs and render only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from gradrepl.graphs.collection import collection_paused
from gradrepl.graphs.fold import Edge as Link
from gradrepl.graphs.fold import Fold, Folded, fold
from gradrepl.graphs.model import Graph, Node, Saved, count
from gradrepl.graphs.order import Columns

from . import labels
from .clusters import Cluster, nested, scopes
from .limits import MOST_CARDS, Alias, LeftOut, alias, leave_out

MOST_LABELLED = 1500  # cards of a picture whose arrows are labelled
MOST_UNFOLDED = 6000  # cards of a picture that was asked for with fold=False: some seconds
GREATEST = 2**62  # of the numbers that are compared by their steps
SAVED_CARDS = 60  # ops up to which saved tensors are drawn unasked

CAPTIONS = {
    "backward": "gradient flow: from what you asked for down to the leaves",
    "forward": "computation: from the leaves down to what you asked for",
}


class Card(NamedTuple):
    """A box of the picture."""

    id: str  # as `id=` in an SVG: the node's id, "n7-n3000" for a fold
    kind: str  # a key of theme.LEGEND
    title: str
    lines: tuple[str, ...] = ()
    tip: str = ""
    fault: bool = False
    nodes: tuple[str, ...] = ()  # the ids that it stands for
    heads: tuple[int, ...] = ()  # lines that are written as large as the title


class Arrow(NamedTuple):
    """An arrow of the picture, along the gradient."""

    source: str
    target: str
    label: str = ""
    kind: str = "flow"  # or "leaf", "cut", "saved", "constant", "root"


@dataclass(frozen=True)
class Drawing:
    """What is on the page."""

    cards: tuple[Card, ...]
    arrows: tuple[Arrow, ...]
    caption: str
    notes: tuple[str, ...] = ()  # what is not shown, and how to see it
    flow: str = "backward"
    clusters: tuple[Cluster, ...] = ()  # of card ids

    @property
    def labelled(self) -> bool:
        """Are the words of arrows written?  Each makes the layout two ranks higher: 19 s instead of 4 s for 8 000 cards."""
        return len(self.cards) <= MOST_LABELLED

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys("fault" if card.fault else card.kind for card in self.cards))


def columns_of(graph: Graph) -> Columns:
    """The nodes as the search for repeats sees them: whatever tells two apart on the page is in the label, but no names and no numbers.

    Plain ops share what was read of their outputs and arguments, so that is looked at once.
    """
    tokens, looks, tellings = dict[tuple, int](), dict[int, int](), dict[int, tuple]()
    kinds, numbers = [], []
    for node in graph.nodes:
        outputs, arguments = node.outputs, node.arguments
        look = looks.get(id(outputs))
        if look is None:
            seen = tuple([(*output[:3], output.retains_grad, output.hooks) for output in outputs])
            look = looks[id(outputs)] = tokens.setdefault(seen, len(tokens))
        telling = tellings.get(id(arguments))
        if telling is None:
            telling = tellings[id(arguments)] = told(arguments)
        states = tuple([state_of(saved) for saved in node.saved if saved.state != "held" or saved.cut]) if node.saved else ()
        key = node.kind, node.name, look, telling[0], states, node.faults, node.has_grad, node.scope[-1:]
        kinds.append(tokens.setdefault(key, len(tokens)))
        numbers.append(telling[1])
    leaf = [node.kind == "leaf" for node in graph.nodes]
    return Columns(kinds, [node.inputs for node in graph.nodes], leaf, numbers, [labels.short(node.name) for node in graph.nodes])


def state_of(saved: Saved) -> tuple:
    return saved.slots, saved.state, saved.cut and saved.cut.reason


def told(arguments: tuple[tuple[str, Any], ...]) -> tuple[tuple, tuple[int, ...]]:
    """Return arguments as names with the values other than whole numbers, and those numbers, which may grow from block to block."""
    values = tuple([(name, None if is_whole(value) else repr(value)) for name, value in arguments])
    return values, tuple([value for _, value in arguments if is_whole(value)])


def is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) < GREATEST


def root_places(graph: Graph) -> list[int]:
    return [root.node for root in graph.roots if root.node is not None]


def folded(graph: Graph) -> Folded:
    """The graph as cards: places in graph.nodes, and folds, as graph.look.fold says."""
    wish, roots = graph.look.fold, root_places(graph)
    nodes = columns_of(graph)
    ops = [place for place, leaf in enumerate(nodes.leaf) if not leaf]
    if wish is False:
        return Folded(nodes, ops, list(range(len(graph.nodes))), [])
    found = fold(nodes, roots, (), ops)
    if wish is True:
        return found
    opened = {card.run for card in found.cards if isinstance(card, Fold) and fold_id(graph, card) in wish}
    return fold(nodes, roots, opened, ops) if opened else found


def members(card: int | Fold | LeftOut) -> Iterable[int]:
    """The places in graph.nodes behind a card."""
    if isinstance(card, int):
        return (card,)
    return chain.from_iterable(card.blocks if isinstance(card, Fold) else map(members, card.cards))


def fold_id(graph: Graph, card: Fold | LeftOut) -> str:
    places = sorted(members(card))
    return f"{graph.nodes[places[0]].id}-{graph.nodes[places[-1]].id}"


def draw(graph: Graph, most: int = MOST_CARDS, notes: tuple[str, ...] = ()) -> Drawing:
    """Return the picture of a graph, of at most `most` cards besides aliases, roots and notes; fold=False allows more."""
    if graph.look.fold is False and most == MOST_CARDS:
        most = MOST_UNFOLDED
        if len(graph.nodes) > most:
            notes = (*notes, f"fold=False draws up to {most} nodes; these are {len(graph.nodes)}, so repeats are folded")
            return draw(graph.drawn(fold=True), MOST_CARDS, notes)
    with collection_paused():
        base = folded(graph)
        cards, links = leave_out(base.cards, base.edges, most)
        cards, links = alias(graph.nodes, cards, links)
    drawing = Painter(graph, cards, links).drawing()
    return replace(drawing, notes=(*notes, *drawing.notes)) if notes else drawing


class Painter:
    """Writes the words on the cards and the arrows."""

    def __init__(self, graph: Graph, cards: list, links: list[Link]) -> None:
        self.graph, self.kept, self.links = graph, cards, links
        self.root_ids = {graph.nodes[root.node].id for root in graph.roots if root.node is not None and root.tensor}
        self.ids = [self.id_of(place, card) for place, card in enumerate(cards)]
        self.shows_saved = graph.look.saved if graph.look.saved is not None else sum(isinstance(card, int) for card in cards) <= SAVED_CARDS

    def id_of(self, place: int, card: object) -> str:
        if isinstance(card, int):
            return self.graph.nodes[card].id
        if isinstance(card, Alias):
            target = self.kept[card.target]
            return f"{self.id_of(card.target, target)}_{place}"
        return fold_id(self.graph, card)  # type: ignore[arg-type]

    def drawing(self) -> Drawing:
        cards = [*self.roots(), *(self.card(place) for place in range(len(self.kept)))]
        arrows = [*self.root_arrows(), *self.arrows()]
        for card, arrow in self.extras():
            cards.append(card)
            arrows.append(arrow)
        flow = self.graph.look.flow
        caption = CAPTIONS[flow]
        return Drawing(tuple(cards), tuple(arrows), caption, tuple(self.notes()), flow, tuple(self.clusters(cards)))

    def clusters(self, cards: list[Card]) -> list[Cluster]:
        """The cards of each module; a note goes where its op is."""
        if self.graph.look.group is None:
            return []
        of_node = scopes(self.graph)
        paths = {card.id: {of_node.get(node, "") for node in card.nodes} for card in cards if card.kind != "alias"}
        return nested({id: found.pop() for id, found in paths.items() if len(found) == 1 and "" not in found})

    def card(self, place: int) -> Card:
        kept, id = self.kept[place], self.ids[place]
        if isinstance(kept, int):
            node = self.graph.nodes[kept]
            return self.leaf(node) if node.leaf else self.op(node)
        if isinstance(kept, Alias):
            return self.alias(kept, id)
        return self.fold(kept, id) if isinstance(kept, Fold) else self.left_out(kept, id)

    def op(self, node: Node) -> Card:
        lines = [self.types(node), labels.arguments_text(node), *self.particulars(node), self.constants_told(node), *self.numbers(node)]
        name = labels.op_name(node, self.graph)
        kind = "custom" if node.kind == "custom" else "inplace" if node.kind == "inplace" else "op"
        return self.made(node, kind, name, lines)

    def made(self, node: Node, kind: str, title: str, lines: Iterable[str]) -> Card:
        fault = bool(node.faults)
        words = tuple(line for line in (*lines, *node.faults) if line)
        return Card(node.id, kind, ("! " if fault else "") + title, words, labels.tooltip(node), fault, (node.id,))

    def types(self, node: Node) -> str:
        return "" if self.is_root(node) else labels.outputs_text(node)

    def constants_told(self, node: Node) -> str:
        return "" if self.graph.look.constants else labels.constants_text(node)

    def is_root(self, node: Node) -> bool:
        """Does a root's card tell of its only output already?"""
        return len(node.outputs) == 1 and node.id in self.root_ids

    def particulars(self, node: Node) -> Iterator[str]:
        if node.kind == "custom":
            yield "your Function" + (f", {labels.source_text(node.defined)}" if node.defined else "")
        if node.kind == "inplace":
            yield from labels.writing_texts(node)
        yield from (", ".join(labels.badges(output)) for output in node.outputs if labels.badges(output))

    def numbers(self, node: Node) -> Iterator[str]:
        """Of a tensor that has no card of its own."""
        if not self.is_root(node):
            yield from filter(None, map(labels.numbers_text, node.outputs))

    def leaf(self, node: Node) -> Card:
        title = labels.names_text(node.names) or "leaf"
        return self.made(
            node, "leaf", title + labels.item_text(node.outputs[0]), [labels.leaf_text(node), labels.several_text(node.outputs[0])]
        )

    def alias(self, kept: Alias, id: str) -> Card:
        target = self.kept[kept.target]
        if isinstance(target, int):
            node = self.graph.nodes[target]
            if node.leaf:
                return Card(id, "alias", labels.leaf_name(node, 1), ("shared",), labels.tooltip(node), nodes=(node.id,))
            return Card(id, "alias", f"↩ {labels.short(node.name)}", (node.id,), labels.tooltip(node), nodes=(node.id,))
        return Card(id, "alias", f"↩ {fold_id(self.graph, target)}")

    def fold(self, kept: Fold, id: str) -> Card:
        size = kept.run.size
        blocks = f"{count(kept.count, 'block')} of {count(size, 'op')}, each as the one above"
        tip = f"{blocks}: {kept.run.title}\ngraph(y, fold=False) draws them all"
        lines = (f"steps 2-{kept.count + 1}, {id}",)
        return Card(
            id,
            "fold",
            f"{labels.shortened(kept.run.title)} × {kept.count}",
            lines,
            tip,
            nodes=tuple(self.graph.nodes[place].id for place in members(kept)),
        )

    def left_out(self, kept: LeftOut, id: str) -> Card:
        number = sum(1 for _ in members(kept))
        return Card(id, "omitted", f"… {count(number, 'node')} left out", (id,), "save as .html or .txt to see them all")

    def roots(self) -> Iterator[Card]:
        for root in self.graph.roots:
            if root.tensor is None or root.node is not None and self.graph.nodes[root.node].leaf:
                continue
            lines = [labels.type_text(root.tensor, ""), labels.numbers_text(root.tensor)]
            fault = root.node is not None and any("holds" in each for each in self.graph.nodes[root.node].faults)
            title = ("! " if fault else "") + labels.root_title(root, self.graph)
            yield Card(root.id, "root", title, tuple(filter(None, lines)), fault=fault)

    def root_arrows(self) -> Iterator[Arrow]:
        shown = {place: id for id, card in zip(self.ids, self.kept, strict=True) if not isinstance(card, Alias) for place in members(card)}
        for root in self.graph.roots:
            if root.tensor is not None and root.node is not None and not self.graph.nodes[root.node].leaf:
                yield Arrow(root.id, shown[root.node], labels.output_label(self.graph.nodes[root.node], root.output), "root")

    def arrows(self) -> Iterator[Arrow]:
        groups: dict[tuple, list[Link]] = {}
        for link in self.links:
            groups.setdefault((link.source, link.target), []).append(link)
        for (source, target), links in groups.items():
            number = sum(link.count for link in links)
            if len(links) > 2 and len({link.output for link in links}) == 1:
                yield self.arrow(source, target, links[0], f"×{number}")
                continue
            for link in links:
                yield self.arrow(source, target, link, f"×{link.count}" if link.count > 1 else self.words(link))

    def arrow(self, source: int, target: int, link: Link, label: str) -> Arrow:
        kept = self.kept[target]
        end = self.kept[kept.target] if isinstance(kept, Alias) else kept
        node = self.graph.nodes[end] if isinstance(end, int) else None
        output = labels.output_label(node, link.output) if node and link.output is not None else ""
        words = "\n".join(filter(None, (label, output)))
        return Arrow(self.ids[source], self.ids[target], words, "leaf" if isinstance(kept, Alias) or node and node.leaf else "flow")

    def words(self, link: Link) -> str:
        source = self.kept[link.source]
        if not isinstance(source, int) or link.position is None:
            return ""
        node, place = self.graph.nodes[source], link.position
        target, output = node.inputs[place]  # type: ignore[misc]
        outputs = self.graph.nodes[target].outputs
        summed = labels.sum_label(node, place, outputs[output]) if output < len(outputs) else ""
        return "\n".join(filter(None, (labels.edge_label(node, place), summed)))

    def extras(self) -> Iterator[tuple[Card, Arrow]]:
        """Cuts, saved tensors and constants, each with its line."""
        for root in self.graph.roots:
            if root.node is None:
                id = f"{root.id}_cut"
                yield Card(id, "cut", "no grad_fn", (labels.cut_text(root.cut),)), Arrow(root.id, id, kind="cut")
        for kept in self.kept:
            if isinstance(kept, int):
                node = self.graph.nodes[kept]
                yield from self.cuts(node)
                if self.shows_saved:
                    yield from self.saved(node)
                if self.graph.look.constants:
                    yield from self.constants(node)

    def cuts(self, node: Node) -> Iterator[tuple[Card, Arrow]]:
        for place, name, cut in labels.cuts_of(node):
            card = Card(f"{node.id}_cut{place}", "cut", f"{labels.shortened(name)}: no grad_fn", (labels.cut_text(cut),), nodes=(node.id,))
            yield card, Arrow(node.id, card.id, labels.edge_label(node, place), "cut")

    def saved(self, node: Node) -> Iterator[tuple[Card, Arrow]]:
        """One note beside an op, for all that it keeps."""
        kept = [saved for saved in node.saved if not is_number(node, saved)]
        if kept:
            words = [(labels.saved_text(saved), labels.saved_detail(saved), labels.saved_value(saved)) for saved in kept]
            lines = [(line, not place) for each in words for place, line in enumerate(each) if line]
            heads = tuple(place for place, (_, head) in enumerate(lines[1:]) if head)
            spoilt = any(saved.expected is not None for saved in kept)
            rest = tuple(line for line, _ in lines[1:])
            card = Card(f"{node.id}_saved", "saved", lines[0][0], rest, fault=spoilt, nodes=(node.id,), heads=heads)
            yield card, Arrow(node.id, card.id, kind="saved")

    def constants(self, node: Node) -> Iterator[tuple[Card, Arrow]]:
        arguments = dict(node.arguments)
        known = {slot: saved for saved in node.saved for slot in saved.slots}
        for place, edge in enumerate(node.inputs):
            if edge is None and not labels.cut_of(node, labels.input_name(node, place)):
                name = labels.input_name(node, place)
                saved = known.get(name)
                title = saved.names[0] if saved and saved.names else str(arguments[name]) if name in arguments else name or f"input {place}"
                id = f"{node.id}_c{place}"
                card = Card(id, "constant", title, ("requires_grad=False",))
                yield card, Arrow(node.id, id, labels.edge_label(node, place), kind="constant")

    def notes(self) -> Iterator[str]:
        yield from self.graph.notes
        folds = [kept for kept in self.kept if isinstance(kept, Fold)]
        if folds:
            hidden = sum(1 for kept in folds for _ in members(kept))
            yield f"{count(hidden, 'node')} of {len(self.graph.nodes)} are folded; fold=False draws them all"
        if len(self.kept) > MOST_LABELLED:
            yield "arrows are not labelled in a picture of this size; their titles tell"
        omitted = sum(1 for kept in self.kept if isinstance(kept, LeftOut) for _ in members(kept))
        if omitted:
            yield f"{count(omitted, 'node')} in the middle are left out; .txt and .json hold them all"


def is_number(node: Node, saved: Saved) -> bool:
    """Is it told as an argument already, such as the 2 of x * 2?"""
    return saved.shape == () and saved.constant and not saved.names and any(name == saved.slots[0] for name, _ in node.arguments)
