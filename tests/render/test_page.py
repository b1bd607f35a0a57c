"""The web page: one file, names as text, and, where Chromium is installed, what its buttons and keys do."""

import dataclasses
import json
import re
import shutil
import subprocess

import pytest

import gradrepl
from gradrepl import torch
from gradrepl.graphs import BackwardStep

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --window-size=1000,700"
).split()
EVIL = '</script><script>document.title="taken"</script>'


def loop(steps):
    W, h = torch.ones(4, 4, requires_grad=True), torch.zeros(1, 4)
    for _ in range(steps):
        h = torch.tanh(h @ W + 1)
    return h.sum(), {"W": W}


def small():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x * x + x.sin()).sum()
    return gradrepl.graph(y, names={"x": x, "y": y})


@pytest.fixture
def page(tmp_path):
    """Write a page, run a script in it, return what the script puts down."""

    def run(graph, script):
        path = tmp_path / "page.html"
        graph.save(path)
        text = path.read_text()
        path.write_text(text.replace("</body>", f"<script>{script}; document.body.dataset.result = JSON.stringify(result)</script></body>"))
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        found = re.search(r'data-result="([^"]*)"', done.stdout)
        assert found, done.stdout[-2000:]
        return json.loads(found[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    return run


in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def test_the_page_is_one_file_that_loads_nothing(tmp_path):
    text = small().save(tmp_path / "y.html").read_text()
    rest = text.replace("http://www.w3.org/", "")
    assert "http://" not in rest and "https://" not in rest and "@import" not in rest and " src=" not in rest


def test_names_are_data(tmp_path):
    x = torch.ones(2, requires_grad=True)
    text = gradrepl.save((x * x).sum(), tmp_path / "y.html", names={EVIL: x}).read_text()
    assert EVIL not in text and text.count("</script>") == 2


@in_chromium
def test_names_are_data_in_the_browser(page):
    x = torch.ones(2, requires_grad=True)
    graph = gradrepl.graph((x * x).sum(), names={EVIL: x})
    assert page(graph, "choose('n3'); const result = [document.title, document.querySelector('#panel h2').textContent]") == [
        "Graph of out",
        EVIL,
    ]


@in_chromium
def test_a_click_tells_of_a_node_and_lights_its_neighbours(page):
    script = """
    document.getElementById('n3').dispatchEvent(new MouseEvent('click', {bubbles: true}));
    const lit = [...document.querySelectorAll('.node.lit')].map((card) => card.id).sort();
    const result = [panel.hidden, document.querySelector('#panel h2').textContent, panel.textContent.includes('grad * conj(other)'), lit]"""
    assert page(small(), script) == [False, "MulBackward0", True, ["n2", "n3", "n3_saved", "n4"]]


@in_chromium
def test_search_by_name_and_by_id(page):
    script = """
    const result = [];
    for (const words of ['mul', 'x', 'n5', 'nothing']) { search(words); result.push(hits); }
    search('sin'); next(1); result.push(chosen)"""
    assert page(small(), script) == [["n3"], ["n4"], ["n5"], [], "n5"]


@in_chromium
def test_zoom_pan_and_fit(page):
    script = """
    const before = view.w; $('in').click(); const closer = view.w;
    dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'})); const x = view.x;
    stage.dispatchEvent(new WheelEvent('wheel', {deltaY: 100, clientX: 300, clientY: 300, cancelable: true})); const further = view.w;
    dispatchEvent(new KeyboardEvent('keydown', {key: '0'}));
    const result = [closer < before, further > closer, Math.abs(view.w - before) < 1e-6]"""
    assert page(small(), script) == [True, True, True]


@in_chromium
def test_dragging_moves_the_picture_and_chooses_nothing(page):
    script = """
    const before = view.x, card = document.getElementById('n3');
    card.dispatchEvent(new PointerEvent('pointerdown', {pointerId: 1, clientX: 100, clientY: 100, bubbles: true}));
    dispatchEvent(new PointerEvent('pointermove', {pointerId: 1, clientX: 160, clientY: 100}));
    dispatchEvent(new PointerEvent('pointerup', {pointerId: 1}));
    card.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    const result = [view.x < before, chosen]"""
    assert page(small(), script) == [True, None]


@in_chromium
def test_a_fold_opens_and_folds_again(page):
    y, names = loop(8)
    script = """
    const count = () => document.querySelectorAll('#stage .node').length;
    const before = count(); choose(picture.cards.find((card) => card.kind === 'fold').id);
    [...panel.querySelectorAll('button')].find((button) => button.textContent.startsWith('Open')).click();
    const opened = count(); $('fit').click();
    const result = [opened > before, count() === before]"""
    assert page(gradrepl.graph(y, names=names), script) == [True, True]


@in_chromium
def test_a_long_fold_lists_its_nodes(page):
    y, names = loop(200)
    script = """
    choose(picture.cards.find((card) => card.kind === 'fold').id);
    panel.querySelector('.long .link').click();
    const result = [chosen, panel.textContent.includes('behind')]"""
    assert page(gradrepl.graph(y, names=names), script) == ["n6", True]


@in_chromium
def test_the_slider_steps_through_backward(page):
    graph = small()
    steps = tuple(BackwardStep(node.id, node.title, ("grad = 1",)) for node in graph.nodes)
    script = """
    dispatchEvent(new KeyboardEvent('keydown', {key: ']'})); dispatchEvent(new KeyboardEvent('keydown', {key: ']'}));
    const told = panel.textContent.includes('grad = 1');
    const result = [$('steps').hidden, $('stepped').textContent, document.querySelector('.now').id, told]"""
    assert page(dataclasses.replace(graph, steps=steps), script) == [False, "2 of 5: AddBackward0", "n2", True]


@in_chromium
def test_light_and_dark(page):
    script = """
    const ground = () => getComputedStyle(document.querySelector('#stage svg .graph > polygon')).fill;
    root.classList.add('light'); const light = ground(); theme(); const dark = ground();
    const result = [light, dark]"""
    assert page(small(), script) == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]


@in_chromium
def test_nothing_is_wider_than_a_phone(page):
    script = "document.body.style.width = '360px'; const result = document.querySelector('header').scrollWidth <= 360"
    assert page(small(), script) is True
