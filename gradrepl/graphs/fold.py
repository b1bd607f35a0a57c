"""Draw each repetition in a graph as its first block, one card for the blocks between, its last block."""

from typing import NamedTuple

from .runs import Run, find_runs, sequence


class Fold(NamedTuple):
    run: Run  # its title names the ops of a block; to open the fold, pass the run to fold()
    blocks: tuple  # the nodes of each block, as indices: ops, each with the leaves that only folded ops use

    @property
    def count(self):
        return len(self.blocks)


class Edge(NamedTuple):
    source: int  # index into cards: the consumer
    target: int
    position: int | None  # input of the consumer; None: several
    output: int | None  # output of the producer; None: several
    count: int  # type: ignore[assignment]


class Folded(NamedTuple):
    cards: list  # in print order: an index into nodes, or a Fold
    edges: list
    runs: list  # all that were found, inner ones in every block of the outer


def leaves_of(nodes, op):
    return dict.fromkeys(edge[0] for edge in nodes[op].inputs if edge and nodes[edge[0]].leaf)


def hide(ops, runs, opened):
    """Return {op: (run, number of the block)} for the blocks between the first and the last of every run that is folded."""
    hidden = {}
    for run in sorted(runs, key=lambda run: -run.size * run.count):  # so an outer run comes before those in its blocks
        if run not in opened and ops[run.start] not in hidden:
            for place in range(run.start + run.size, run.start + run.size * (run.count - 1)):
                hidden[ops[place]] = run, (place - run.start) // run.size
    return hidden


def deal_cards(nodes, roots, ops, hidden):
    """Return the cards and {node: index of its card}. A leaf goes behind a card only when all its uses are behind cards."""
    visible = {leaf for op in ops if op not in hidden for leaf in leaves_of(nodes, op)}
    visible.update(root for root in roots if nodes[root].leaf)
    cards, card_of, folds = [], {}, {}
    for op in ops:
        run, block = hidden.get(op, (None, 0))
        if run and run not in folds:
            folds[run] = len(cards)
            cards.append([[] for _ in range(run.count - 2)])
        for node in (op, *leaves_of(nodes, op)):
            if node in card_of:
                continue
            if run and (node == op or node not in visible):
                card_of[node] = folds[run]
                cards[folds[run]][block - 1].append(node)
            else:
                card_of[node] = len(cards)
                cards.append(node)
    for root in roots:
        if root not in card_of:
            card_of[root] = len(cards)
            cards.append(root)
    for run, card in folds.items():
        cards[card] = Fold(run, tuple(map(tuple, cards[card])))
    return cards, card_of


def join(nodes, ops, cards, card_of):
    """Return the edges between cards; those between the same two cards are one edge if either is a fold."""
    groups = {}
    for op in ops:
        source = card_of[op]
        for position, edge in enumerate(nodes[op].inputs):
            target = card_of[edge[0]] if edge else source
            folded = isinstance(cards[source], Fold) or isinstance(cards[target], Fold)
            if edge and (source != target or not folded):
                groups.setdefault((source, target, None if folded else position), []).append((position, edge[1]))
    return [Edge(source, target, *map(only, zip(*ends)), len(ends)) for (source, target, _), ends in groups.items()]


def only(values):
    return values[0] if len(set(values)) == 1 else None


def fold(nodes, roots, opened=(), ops=None):
    """Return the graph with its repetitions folded, but for the runs in `opened`; `ops` is the print order where that is known."""
    seq = sequence(nodes, roots, ops)
    runs = find_runs(nodes, seq)
    cards, card_of = deal_cards(nodes, roots, seq.ops, hide(seq.ops, runs, opened))
    return Folded(cards, join(nodes, seq.ops, cards, card_of), runs)
