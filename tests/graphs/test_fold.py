"""Order, runs, folds: programs with repeats, an independent check of exactness, random graphs, perturbations."""

import random
from collections import Counter

import pytest

from gradrepl import torch
from gradrepl.graphs import graph, runs
from gradrepl.graphs.fold import Fold
from gradrepl.graphs.rows import Rows
from gradrepl.render.drawing import columns_of, root_places
from tests.graphs import programs
from tests.graphs.items import Item, fold, items, line_up, print_order


def Node(name, shape, inputs=(), leaf=False):
    return Item((name, shape), inputs, leaf, (), name)


def label(node):
    return node.label, len(node.inputs), node.leaf


def build(program, *args, **kwargs):
    """Run a program on the embedded engine and return (items, roots)."""
    torch.manual_seed(0)
    captured = graph(program(torch, *args, **kwargs), names={})
    return items(columns_of(captured)), root_places(captured)


def folds(folded):
    return [card for card in folded.cards if isinstance(card, Fold)]


def counts(folded):
    return [card.count for card in folds(folded)]


def unfold(folded):
    """Return the nodes of the cards, and how many edges run between or inside cards."""
    return [node for card in folded.cards for node in (sum(card.blocks, ()) if isinstance(card, Fold) else (card,))]


def reachable(nodes, roots):
    seen, stack = set(), list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(edge[0] for edge in nodes[node].inputs if edge)
    return seen


def rebuild(nodes, roots, folded):
    """Return {node: inputs} of the folded blocks, made from the first three blocks of each run by arithmetic alone."""
    line, made = line_up(nodes, roots), {}
    refs = [[tuple(ref) for ref in line.refs.row(place)] for place in range(len(line.ops))]
    at = {index * line.width: op for index, op in enumerate(line.ops)}
    for index, op in enumerate(line.ops):
        for edge, ref in zip(nodes[op].inputs, refs[index]):
            if edge:
                at.setdefault(ref[0], edge[0])
    for card in folds(folded):
        run = card.run
        for block in range(1, run.count - 1):
            for offset in range(run.size):
                first, second = refs[run.start + offset], refs[run.start + run.size + offset]
                pairs = [tuple(a + (b - a) * block for a, b in zip(*two)) for two in zip(first, second)]
                made[line.ops[run.start + block * run.size + offset]] = tuple(
                    None if pair == (0, 0) else (at[pair[0]], pair[1]) for pair in pairs[: len(nodes[line.ops[run.start + offset]].inputs)]
                )
    return made


def check_exact(nodes, roots, folded):
    """Check by explicit maps from each folded block to the next that they are the same, inside and towards all else."""
    number = {root: index for index, root in enumerate(roots)}
    consumers = {}
    for op in print_order(nodes, roots):
        for position, edge in enumerate(nodes[op].inputs):
            if edge:
                consumers.setdefault(edge[0], []).append((op, position, edge[1]))
    for fold_ in folds(folded):
        for here, there in zip(fold_.blocks, fold_.blocks[1:]):
            ops, others = [n for n in here if not nodes[n].leaf], [n for n in there if not nodes[n].leaf]
            assert [label(nodes[n]) for n in ops] == [label(nodes[n]) for n in others]
            image = dict(zip(ops, others))
            for op in ops:
                for one, two in zip(nodes[op].inputs, nodes[image[op]].inputs, strict=True):
                    assert (one is None) == (two is None)
                    if one is None:
                        continue
                    assert label(nodes[one[0]]) == label(nodes[two[0]])
                    if one[0] in image:  # inside the block
                        assert two == (image[one[0]], one[1])
                    elif nodes[one[0]].leaf and one[0] != two[0]:  # a leaf of its own: the same places use it
                        assert image.setdefault(one[0], two[0]) == two[0]
                    else:
                        assert two[0] not in others
            images = [image[n] for n in image]
            assert len(set(images)) == len(images)
        uses = [[[use[1:] for use in consumers.get(n, ())] for n in block if not nodes[n].leaf] for block in fold_.blocks]
        assert len({tuple(map(len, block)) for block in uses}) == 1
        roots_used = [[n in number for n in block if not nodes[n].leaf] for block in fold_.blocks]
        assert all(used == roots_used[0] for used in roots_used)


def check(nodes, roots, opened=()):
    folded = fold(nodes, roots, opened)
    assert sorted(unfold(folded)) == sorted(reachable(nodes, roots))
    inside = Counter()
    card_of = {
        node: index for index, card in enumerate(folded.cards) for node in (sum(card.blocks, ()) if isinstance(card, Fold) else (card,))
    }
    for op in reachable(nodes, roots):
        for edge in filter(None, nodes[op].inputs):
            inside[card_of[op], card_of[edge[0]]] += 1
    drawn = Counter()
    for edge in folded.edges:
        drawn[edge.source, edge.target] += edge.count
    for pair, number in inside.items():
        if pair[0] != pair[1]:
            assert drawn[pair] == number
    assert sum(drawn.values()) == sum(number for pair, number in inside.items() if pair[0] != pair[1])
    made = rebuild(nodes, roots, folded)
    assert all(nodes[op].inputs == inputs for op, inputs in made.items())
    assert set(made) == {n for card in folds(folded) for block in card.blocks for n in block if not nodes[n].leaf}
    check_exact(nodes, roots, folded)
    return folded


EXPECTED = {
    "rnn1": [198],
    "rnn2": [97, 97],
    "lstm_by_hand": [58],
    "rnn_all_losses": [56, 57],
    "training_loop": [98],
    "mlp": [98],
    "mlp_decay": [98, 97],
    "residual": [14],
    "power_iteration": [98],
    "odd_step": [47, 49],
    "two_loops": [58, 58],
    "nested": [3, 18, 3],
    "chain": [4998],
    "tree": [],
    "wide": [298],
    "alternating": [98],
    "tied_layers": [8, 48, 8],
    "fibonacci": [196],
    "heavy_side": [98],
    "many_roots": [98],
    "read_by_index": [98],
}


@pytest.mark.parametrize("name", [case.__name__ for case in programs.REPEATS])
def test_programs_fold_as_one_would_by_hand(name):
    folded = check(*build(getattr(programs, name)))
    if name in EXPECTED:
        assert counts(folded) == EXPECTED[name]


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("h0", [False, True])
def test_the_side_of_the_recurrent_input_does_not_matter(flip, h0):
    assert counts(check(*build(programs.rnn1, 100, flip, h0))) == [98]


def test_a_loop_in_a_loop_is_written_in_the_title():
    folded = fold(*build(programs.nested))
    assert folds(folded)[1].run.title == "Div, Exp, (Tanh, Add, Mm) × 5"


@pytest.mark.parametrize("own", [False, True])
def test_nested_loops_with_a_weight_of_their_own(own):
    assert 18 in counts(check(*build(programs.nested, 20, 5, own)))


def test_opening_a_fold_draws_its_blocks_with_inner_folds():
    nodes, roots = build(programs.nested)
    outer = folds(fold(nodes, roots))[1]
    opened = check(nodes, roots, {outer.run})
    assert counts(opened) == [3] * 20
    everything = check(nodes, roots, set(opened.runs))
    assert len(everything.cards) == len(nodes) and not folds(everything)
    assert {(e.source, e.position, e.target, e.output) for e in everything.edges} == {
        (everything.cards.index(i), p, everything.cards.index(e[0]), e[1]) for i, n in enumerate(nodes) for p, e in enumerate(n.inputs) if e
    }


@pytest.mark.parametrize("case", [programs.tree, lambda torch: programs.chain(torch, 3), lambda torch: programs.rnn1(torch, 3)])
def test_few_or_no_repeats_are_drawn_in_full(case):
    nodes, roots = build(case)
    assert len(check(nodes, roots).cards) == len(nodes)


def test_result_does_not_depend_on_the_numbering_of_the_nodes():
    nodes, roots = build(programs.nested)
    shuffled = list(range(len(nodes)))
    random.Random(1).shuffle(shuffled)
    new = {old: index for index, old in enumerate(shuffled)}
    moved = [nodes[old]._replace(inputs=tuple(e and (new[e[0]], e[1]) for e in nodes[old].inputs)) for old in shuffled]
    one, two = fold(nodes, roots), fold(moved, [new[r] for r in roots])
    assert one.edges == two.edges and one.runs == two.runs
    assert [c.run.title if isinstance(c, Fold) else new[c] for c in one.cards] == [
        c.run.title if isinstance(c, Fold) else c for c in two.cards
    ]


def perturbations(nodes, node, roots):
    """Yield (what, nodes, roots) with one thing about `node` changed."""

    def put(new, more=()):
        return [*nodes[:node], new, *nodes[node + 1 :], *more]

    old = nodes[node]
    yield "name", put(old._replace(label=("Other", old.label))), roots
    yield "shape", put(old._replace(label=(old.label, (9, 9)))), roots
    yield "root", nodes, [*roots, node]
    yield "outer use", [*nodes, Node("Sum", ((),), ((node, 0),))], [*roots, len(nodes)]
    real = [p for p, e in enumerate(old.inputs) if e]
    if real:

        def with_input(value):
            return old._replace(inputs=(*old.inputs[: real[0]], value, *old.inputs[real[0] + 1 :]))

        target = old.inputs[real[0]]
        yield "output number", put(with_input((target[0], 7))), roots
        yield "constant", put(with_input(None)), roots
        yield "odd leaf", put(with_input((len(nodes), 0)), [Node("leaf", ((8, 1),), (), True)]), roots
        yield "op between", put(with_input((len(nodes), 0)), [Node("Clone", ((3,),), (target,))]), roots
        yield "more inputs", put(old._replace(inputs=(*old.inputs, target))), roots
    if len(old.inputs) > 1 and len(set(old.inputs)) > 1:
        yield "inputs swapped", put(old._replace(inputs=old.inputs[::-1])), roots


CHANGED = (
    "rnn1 rnn2 lstm_by_hand training_loop mlp mlp_decay power_iteration nested wide two_loops fibonacci tied_layers many_roots".split()
)


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_op_is_never_behind_a_card(name):
    size = {"rnn1": (40,), "mlp": (30,), "mlp_decay": (20,), "nested": (12, 5), "tied_layers": (12, 5)}.get(name, (20,))
    nodes, roots = build(getattr(programs, name), *size)
    whole = check(nodes, roots)
    hidden = [n for card in folds(whole) for block in card.blocks[1:-1] for n in block if not nodes[n].leaf]
    for node in random.Random(0).sample(hidden, min(5, len(hidden))):
        for what, changed, new_roots in perturbations(nodes, node, roots):
            folded = check(changed, new_roots)
            assert all(node not in block for card in folds(folded) for block in card.blocks), (what, node)


def random_graph(rng):
    """Return a DAG made of random pieces, some of them repeated, some tied to earlier nodes or to shared leaves."""
    leaves = [Node("leaf", ((rng.randrange(1, 3),),), (), True) for _ in range(rng.randrange(1, 4))]
    nodes, ops = list(leaves), []
    for _ in range(rng.randrange(1, 5)):
        plan = [
            (
                rng.choice("ABC"),
                [rng.choice(("back", "far", "leaf", "own", "none")) for _ in range(rng.randrange(1, 3))],
                rng.randrange(1, 6),
                rng.randrange(len(leaves)),
            )
            for _ in range(rng.randrange(1, 6))
        ]
        for _ in range(rng.randrange(1, 12)):
            for name, kinds, lag, leaf in plan:
                inputs = []
                for kind in kinds:
                    if kind == "own":
                        nodes.append(Node("leaf", ((2,),), (), True))
                        inputs.append((len(nodes) - 1, 0))
                    elif kind == "leaf" or kind != "none" and not ops:
                        inputs.append((leaf, 0))
                    else:
                        inputs.append(None if kind == "none" else (ops[-1] if kind == "back" else ops[-min(lag, len(ops))], 0))
                nodes.append(Node(name, ((2,),), tuple(inputs)))
                ops.append(len(nodes) - 1)
    return nodes, [ops[-1], *rng.sample(ops, min(len(ops), rng.choice((0, 0, 1))))]


def test_random_graphs():
    folded_any = 0
    for seed in range(400):
        nodes, roots = random_graph(random.Random(seed))
        folded_any += bool(folds(check(nodes, list(dict.fromkeys(roots)))))
    assert folded_any > 40


def test_random_graphs_with_a_random_change():
    for seed in range(200):
        rng = random.Random(seed)
        nodes, roots = random_graph(rng)
        roots = list(dict.fromkeys(roots))
        whole = fold(nodes, roots)
        hidden = [n for card in folds(whole) for block in card.blocks for n in block if not nodes[n].leaf]
        if hidden:
            for _, changed, new_roots in perturbations(nodes, rng.choice(hidden), roots):
                check(changed, list(dict.fromkeys(new_roots)))


def test_order_is_topological_and_complete():
    for seed in range(300):
        nodes, roots = random_graph(random.Random(seed))
        order = print_order(nodes, roots)
        place = {op: index for index, op in enumerate(order)}
        assert set(order) == {n for n in reachable(nodes, roots) if not nodes[n].leaf} and len(order) == len(place)
        assert all(place[op] < place[e[0]] for op in order for e in nodes[op].inputs if e and not nodes[e[0]].leaf)


def test_root_that_is_a_leaf():
    assert fold([Node("leaf", ((3,),), (), True)], [0]).cards == [0]


@pytest.mark.parametrize("what", ["shape of a leaf", "leaf tied to another layer", "leaf used elsewhere"])
def test_a_changed_leaf_of_a_stack(what):
    nodes, roots = build(programs.mlp, 40)
    ops = [op for op in print_order(nodes, roots) if nodes[op].text == "T"]
    leaf, other = nodes[ops[20]].inputs[0][0], nodes[ops[9]].inputs[0][0]
    if what == "shape of a leaf":
        nodes[leaf] = nodes[leaf]._replace(label=(nodes[leaf].label, (9, 9)))
    elif what == "leaf tied to another layer":
        nodes[ops[20]] = nodes[ops[20]]._replace(inputs=((other, 0),))
    else:
        nodes, roots = [*nodes, Node("Sum", ((),), ((leaf, 0),))], [*roots, len(nodes)]
    folded = check(nodes, roots)
    hidden = {node for card in folds(folded) for block in card.blocks for node in block}
    if what == "leaf used elsewhere":
        assert leaf not in hidden and leaf in folded.cards  # drawn, with an edge from the card and one from its other user
    else:
        assert ops[20] not in hidden


def words():
    rng = random.Random(0)
    fibonacci, one = "ab", "a"
    while len(fibonacci) < 10000:
        fibonacci, one = fibonacci + one, fibonacci
    yield "Fibonacci word", fibonacci
    yield "Thue-Morse", "".join("ab"[bin(i).count("1") & 1] for i in range(10000))
    yield "random", "".join(rng.choice("ab") for _ in range(10000))
    yield "runs of random length", "".join(("a" * rng.randrange(1, 30) + "b") for _ in range(650))
    yield "ruler", "".join(chr(97 + (i & -i).bit_length()) for i in range(1, 10000))
    yield "doubling blocks", "".join("ab" * 2**k + "c" for k in range(12))
    yield "three blocks of 3 300", "".join(rng.choice("abcd") for _ in range(3300)) * 3


@pytest.mark.parametrize("name, word", list(words()))
def test_awkward_sequences_cost_little(name, word, monkeypatch):
    nodes = [Node(letter, (), ((i + 1, 0),) if i + 1 < len(word) else ()) for i, letter in enumerate(word)]
    assert work_of(nodes, [0], monkeypatch) < 30 * len(word)


def work_of(nodes, roots, monkeypatch):
    """Return how many rows are looked at in the search for runs."""
    line, work = line_up(nodes, roots), Counter()
    uneven = Rows.uneven

    def counted(rows, size, begin, end):
        work["rows"] += end - begin
        return uneven(rows, size, begin, end)

    monkeypatch.setattr(Rows, "uneven", counted)
    runs.find_runs(line, [nodes[op].text for op in line.ops])
    return work["rows"]


def used_at_random(blocks, seed=0):
    """A chain of equal blocks whose heads are used by one op in a random order, some not at all."""
    rng, size = random.Random(seed), 4 * blocks
    chain = [Node(f"op{i % 4}", ((3,),), ((i + 2, 0),) if i < size - 1 else ()) for i in range(size)]
    return [Node("Hub", ((1,),), tuple((x, 0) for x in [1] + [1 + 4 * rng.randrange(blocks) for _ in range(blocks)])), *chain], [0]


def test_irregular_uses_from_outside_cost_little(monkeypatch):
    nodes, roots = used_at_random(300)
    check(nodes, roots)
    nodes, roots = used_at_random(4000)
    assert work_of(nodes, roots, monkeypatch) < 20 * len(nodes)


@pytest.mark.parametrize("root", ["b.sum()", "(a + b).sum()"])
def test_a_tie_over_two_blocks(root):
    def program(torch, a, b, W):
        for _ in range(60):
            a, b = b, torch.tanh(a * W + b)
        return eval(root, {"a": a, "b": b})

    assert (
        counts(check(*build(lambda torch: program(torch, programs.leaf(torch, 3), programs.leaf(torch, 3), programs.leaf(torch, 3)))))[0]
        >= 54
    )


@pytest.mark.parametrize(
    "arrange, expected",
    [
        (lambda hs: hs, [38]),
        (lambda hs: hs[::-1], [38]),
        (lambda hs: hs[20:] + hs[:20], [18, 18]),
        (lambda hs: random.Random(0).sample(hs, 40), []),
    ],
)
def test_states_stacked_in_another_order_fold_only_at_a_constant_step(arrange, expected):
    def program(torch):
        W, h, states = programs.leaf(torch, 4, 4), programs.leaf(torch, 2, 4), []
        for _ in range(40):
            h = torch.tanh(h @ W + 1)
            states.append(h)
        return torch.stack(arrange(states)).sum()

    found = counts(check(*build(program)))
    assert found == expected


@pytest.mark.parametrize("name", [program.__name__ for program in programs.REPEATS])
def test_a_graph_is_in_print_order_already(name):
    nodes, roots = build(getattr(programs, name))
    assert print_order(nodes, roots) == [place for place, node in enumerate(nodes) if not node.leaf]


@pytest.mark.parametrize("step, folds_found", [(1, [97]), (3, [97]), (None, [])])
def test_numbers_among_the_arguments_may_grow_by_a_constant_step(step, folds_found):
    numbers = random.Random(0).sample(range(1000), 100) if step is None else range(0, 100 * step, step)
    nodes = [Item(("Select", (3,)), ((i + 1, 0),) if i < 99 else (), False, (number,), "Select") for i, number in enumerate(numbers)]
    assert counts(check(nodes, [0])) == folds_found


def test_another_number_is_never_behind_a_card():
    def program(torch):
        x = programs.leaf(torch, 3)
        for t in range(40):
            x = (x * (2.5 if t == 20 else 1.5)).sin()
        return x

    assert counts(check(*build(program)))[:2] == [17, 18]
