"""The tree in the terminal: its lines, its width, and what it does where there is little room or no colour."""

import io

import pytest
from rich.console import Console

import gradrepl
from gradrepl import torch
from gradrepl.render.tree import ASCII
from tests.graphs import programs
from tests.render import golden


def printed(tree, width=80, **options):
    out = io.StringIO()
    Console(file=out, width=width, **options).print(tree)
    return out.getvalue()


def tree_of(program, *args, **look):
    torch.manual_seed(0)
    result = program(torch, *args)
    y, names, more = result if isinstance(result, tuple) else (result, {}, {})
    return gradrepl.tree(y, names=names, **{key: value for key, value in more.items() if key == "values"}, **look)


def test_the_polynomial():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x**2 + 2 * x + 1
    assert str(gradrepl.tree(y)).splitlines() == [
        "AddBackward0 y: (3,)  other constant n1",
        "AddBackward0 (3,) n2",
        "├ 0: PowBackward0 (3,)  exponent 2 n3",
        "│ ■ x (3,)  leaf, grad None, used ×2 n4",
        "1: MulBackward0 (3,)  other 2 n5",
        "■ x ↩ n4",
    ]


def test_a_shared_leaf_and_a_shared_op():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x.exp()
    z = a * x + a.sin()
    assert str(gradrepl.tree(z, names={"x": x, "a": a})).splitlines() == [
        "AddBackward0 (2,) n1",
        "├ 0: MulBackward0 (2,) n2",
        "│ ├ 0: ExpBackward0 ↓ n5",
        "│ ├ 1: ■ x (2,)  leaf, grad None, used ×2 n3",
        "├ 1: SinBackward0 (2,) n4",
        "│ ExpBackward0 ↓ n5",
        "ExpBackward0 a: (2,)  used by n2, n4 n5",
        "■ x ↩ n3",
    ]


def test_a_folded_loop():
    lines = str(tree_of(golden.folded_rnn)).splitlines()
    assert len(lines) == 10 and lines[5] == "⋯ Tanh, Add, Mm × 998  blocks 2-999 of 1000, as the one above n6-n2999"


def test_several_roots_and_one_without_a_graph():
    lines = str(tree_of(golden.detach)).splitlines()
    assert lines[0] == "target (2,)  no grad_fn: detached, or made without gradients"
    assert lines[1].startswith("['loss']: SumBackward0 loss: () n1")


def test_every_node_is_written_once_in_the_order_of_the_ids():
    for program in programs.REPEATS:
        torch.manual_seed(0)
        size = {"chain": (50,), "tree": (4,), "wide": (20,), "scalar_mlp": ()}.get(program.__name__, (6,))
        graph = gradrepl.graph(program(torch, *size), names={}, fold=False)
        lines = graph.tree().lines()
        defined = [line.id for line in lines if line.kind not in ("reference", "omitted")]
        assert sorted(defined) == sorted(node.id for node in graph.nodes)
        ops = [int(id[1:]) for id in defined if not graph[id].leaf]
        assert ops == sorted(ops)


def test_the_indent_is_at_most_the_logarithm_of_the_size():
    for program, size in ((programs.rnn1, 300), (programs.tree, 9), (programs.residual, 60), (programs.fibonacci, 200)):
        torch.manual_seed(0)
        graph = gradrepl.graph(program(torch, size), names={}, fold=False)
        assert max(line.depth for line in graph.tree().lines()) <= len(graph.nodes).bit_length()


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize(
    "program", [golden.shared, golden.split, golden.folded_rnn, golden.scalars, golden.spoilt, golden.custom], ids=lambda p: p.__name__
)
def test_lines_are_whole_where_they_fit_and_shortened_in_the_middle_elsewhere(program, width):
    lines, whole = printed(tree_of(program), width).splitlines(), str(tree_of(program)).splitlines()
    assert max(map(len, lines)) <= width
    assert [line for line in lines if "…" not in line] == [line for line in whole if len(line) <= width]
    for seen, full in zip(lines, whole, strict=True):
        head, _, tail = seen.partition("…")
        assert full.startswith(head) and full.endswith(tail)


def test_what_is_saved_on_request():
    lines = str(tree_of(golden.shared, saved=True)).splitlines()
    assert lines[2] == "├ 0: MulBackward0 (3,)  saved self, other = x: (3,) · 12 B n3"


def test_an_opened_fold():
    graph = gradrepl.graph(programs.two_loops(torch, 10), names={})
    first, second = [line.id for line in graph.tree().lines() if line.kind == "fold"]
    assert [line.id for line in graph.drawn(fold=(first,)).tree().lines() if line.kind == "fold"] == [second]


def test_no_colour():
    assert "\x1b" not in printed(tree_of(golden.scalars), no_color=True, force_terminal=True, color_system=None)
    assert "\x1b[" in printed(tree_of(golden.scalars), force_terminal=True, color_system="standard", legacy_windows=False)


def test_ascii_where_the_encoding_carries_no_lines(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", out)
    print(tree_of(golden.folded_rnn))
    out.flush()
    text = out.buffer.getvalue().decode("ascii")
    assert "+ 1: * W (4, 4)" in text and "~ Tanh, Add, Mm x 998" in text
    assert all(ord(sign) < 128 for sign in "".join(map(str, ASCII.values())))


def test_nothing_is_dropped_without_a_line():
    tree = tree_of(programs.tree, 11)
    lines = str(tree).splitlines()
    assert len(lines) == 1001 and "lines left out; fold=False prints them all" in lines[800]
    assert len(str(tree_of(programs.tree, 11, fold=False)).splitlines()) > 4000


def test_names_cannot_break_a_line():
    x = torch.ones(2, requires_grad=True)
    tree = gradrepl.tree(x * 2, names={"a\nb\x1b[31m": x})
    assert len(str(tree).splitlines()) == 2 and "\x1b" not in str(tree)


def test_paths_of_a_deep_or_wide_nest_are_short():
    from gradrepl import torch, tree

    y = torch.ones(2, requires_grad=True) * 2
    nest = [y]
    for _ in range(3000):
        nest = [nest]
    assert len(str(tree(nest)).splitlines()[0]) < 120
    assert str(tree([y] * 50)).startswith("[0], [1], …, [49]: MulBackward0")
    assert str(tree([y] * 3)).startswith("[0], [1], [2]: MulBackward0")
