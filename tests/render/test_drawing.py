"""The cards and arrows of a picture: the golden programs as text, and what no picture may lose."""

import os
from pathlib import Path

import pytest

import gradrepl
from gradrepl import torch
from gradrepl.graphs import Source, graph, observations
from gradrepl.render.dot import to_dot
from gradrepl.render.drawing import draw
from gradrepl.render.theme import DARK, LIGHT, STROKES
from tests.graphs import programs
from tests.render import golden

TEXTS = Path(__file__).parent / "golden"


def drawing_of(program, **more):
    torch.manual_seed(0)
    y, names, look = program(torch)
    return draw(graph(y, names=names, **{**look, **more}))


def text_of(drawing):
    """A drawing as lines that a person can check."""
    cards = [f"{card.id} [{'!' if card.fault else ''}{card.kind}] {' | '.join((card.title, *card.lines))}" for card in drawing.cards]
    arrows = [f"{arrow.source} -> {arrow.target} ({arrow.kind}) {arrow.label}".replace("\n", ", ").rstrip() for arrow in drawing.arrows]
    return "\n".join([*cards, *arrows, *drawing.notes]) + "\n"


@pytest.mark.parametrize(
    "program", [each for each in golden.GOLDEN if each is not golden.transformer], ids=lambda program: program.__name__
)
def test_golden_pictures(program):
    """To change them on purpose: GRADREPL_REWRITE=1 python -m pytest tests/render/test_drawing.py, then read the diff."""
    path = TEXTS / f"{program.__name__}.txt"
    text = text_of(drawing_of(program))
    if os.environ.get("GRADREPL_REWRITE"):
        path.write_text(text)
    assert text == path.read_text()


def test_the_dot_of_the_polynomial():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x**2 + 2 * x + 1
    lines = to_dot(draw(graph(y, names={"x": x, "y": y}, saved=False))).splitlines()
    node = next(line for line in lines if line.startswith("\tn3 "))
    assert "<b>PowBackward0</b>" in node and 'class="card op"' in node and 'fillcolor="#E5E7E8"' in node
    assert '\tn2 -> n3 [label=" self " class="arrow flow" id=a2 weight=20]' in lines


def test_every_node_is_on_the_page_once():
    for program in programs.REPEATS:
        torch.manual_seed(0)
        captured = graph(program(torch, *(() if program is programs.scalar_mlp else (8,))), names={}, saved=False)
        cards = [card for card in draw(captured).cards if card.kind not in ("alias", "root")]
        assert sorted(id for card in cards for id in card.nodes) == sorted(node.id for node in captured.nodes)


@pytest.mark.parametrize("times, arrows", [(2, ["self", "other"]), (5, ["×5"])])
def test_an_op_that_reads_a_tensor_several_times(times, arrows):
    x = torch.ones(2, requires_grad=True)
    y = x * x if times == 2 else torch.stack([x] * times)
    drawing = draw(graph(y, names={"x": x}, saved=False))
    assert [arrow.label for arrow in drawing.arrows if arrow.source == "n1"] == arrows


def test_flow_forward_turns_the_arrows():
    text = to_dot(drawing_of(golden.shared, flow="forward"))
    assert "rankdir=BT" in text and text.count("dir=back") == 7


def test_constants_and_forward_names():
    drawing = drawing_of(golden.custom, constants=True, labels="forward")
    assert [card.title for card in drawing.cards if card.kind == "constant"] == ["k"]
    assert [card.title for card in drawing.cards if card.kind == "op"] == ["sum", "mul"]


def test_a_cut_that_was_seen():
    x = torch.ones(2, requires_grad=True)
    target = x.exp().detach()
    observations.record_cut(target, "detach()", Source("demo.py", 7, "target = h.detach()"))
    captured = graph(x * target, names={"x": x, "target": target})
    drawing = draw(captured)
    assert "n1_cut1 [cut] target: no grad_fn | detach() at line 7" in text_of(drawing)
    assert "n1 -> n1_cut1 (cut) other" in text_of(drawing) and "constant" not in text_of(drawing)
    assert "target cut: detach() at line 7" in str(captured.tree())


def test_modules_by_the_parameters_that_ops_read():
    clusters = drawing_of(golden.mlp, group="module").clusters
    assert {cluster.path: set(cluster.members) for cluster in clusters} == {
        "2": {"n2", "n2_saved", "n3", "n4", "n5"},
        "0": {"n7", "n7_saved", "n8", "n9", "n10"},
    }


def test_modules_that_were_seen_at_work():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    with gradrepl.module_scopes(model, "model"):
        y = model(torch.ones(1, 2)).sum()
    (cluster,) = draw(graph(y, names=model, group="module", saved=False)).clusters
    assert {inner.path: inner.members for inner in cluster.inner} == {"model.1": ["n2"], "model.0": ["n3", "n4", "n5", "n6"]}


def contrast(one, two):
    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))

    brighter, darker = sorted((light(one), light(two)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_contrasts(theme):
    for role, stroke in STROKES.items():
        assert contrast(stroke, theme.ground) >= 3, role
        assert contrast(theme.text, theme.fill(role)) >= 7
        assert contrast(theme.dim, theme.fill(role)) >= 4.5, role
