"""Files of every format: what is in them, and that they are written whole or not at all."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import pytest

import gradrepl
from gradrepl import torch
from gradrepl.graphs import GraphError
from gradrepl.render import layout, svg
from tests.graphs import programs
from tests.render import golden

ODD = ['a"b\n<c>|{}', "<script>alert(1)</script>", "ünï漢字", "\\N", "&amp;", "%d", "]]>", "x" * 300, "\x00\x07", "-->"]


def simple():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x * x + x.sin()).sum()
    return y, {"x": x, "y": y}


@pytest.mark.parametrize("suffix", ["svg", "png", "dot", "html", "mmd", "json", "txt", "SVG"])
def test_every_format(suffix, tmp_path):
    y, names = simple()
    path = gradrepl.save(y, tmp_path / f"y.{suffix}", names=names)
    content = path.read_bytes()
    assert content[:4] == b"\x89PNG" if suffix == "png" else b"MulBackward0" in content
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", ["svg", "png", "dot", "html", "mmd", "json", "txt"])
def test_the_same_program_gives_the_same_bytes(suffix, tmp_path):
    contents = set()
    for _ in range(2):
        y, names, look = golden.custom(torch)
        contents.add(gradrepl.save(y, tmp_path / f"y.{suffix}", names=names, **look).read_bytes())
    assert len(contents) == 1


def test_the_svg_holds_text_a_viewbox_and_both_themes(tmp_path):
    y, names = simple()
    text = gradrepl.save(y, tmp_path / "y.svg", names=names).read_text()
    root = ElementTree.fromstring(text)
    words = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"MulBackward0", "SinBackward0", "x", "y"} <= set(words)
    assert "viewBox" in root.attrib and "pt" not in root.attrib["width"] and "prefers-color-scheme" in text
    titles = [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("n3 MulBackward0\n(3,) float32") for title in titles)
    dark = gradrepl.save(y, tmp_path / "d.svg", names=names, theme="dark").read_text()
    assert "prefers-color-scheme" not in dark and "#0d1117" in dark


@pytest.mark.parametrize("suffix", ["svg", "html", "dot", "mmd", "json", "txt", "png"])
@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_text(name, suffix, tmp_path):
    x = torch.ones(2, requires_grad=True)
    path = gradrepl.save((x * x).sum(), tmp_path / f"y.{suffix}", names={name: x})
    if suffix == "png":
        return
    text = path.read_text(encoding="utf-8")
    assert "<script>alert" not in text or suffix in ("txt", "json", "dot")  # where it is within quotes
    if suffix == "svg":
        words = ["".join(each.itertext()) for each in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        assert any(name[:5].split("\n")[0].split("\x00")[0] in word for word in words)
    if suffix == "json":
        assert name in json.loads(text)["nodes"][2]["outputs"][0]["names"]


def test_the_schema_of_the_json(tmp_path):
    y, names = simple()
    data = json.loads(gradrepl.save(y, tmp_path / "y.json", names=names).read_text())
    assert data["schema"] == "gradrepl/graph/1" and [root["node"] for root in data["roots"]] == ["n1"]
    mul = data["nodes"][2]
    assert mul["formulas"] == {"self": "grad * conj(other)", "other": "grad * conj(self)"}
    assert mul["inputs"] == [{"node": "n4", "output": 0, "name": "self"}, {"node": "n4", "output": 0, "name": "other"}]
    assert mul["saved"][0]["slots"] == ["self", "other"] and mul["saved"][0]["names"] == ["x"]


def test_numbers_that_json_cannot_hold(tmp_path):
    x = torch.ones(2, requires_grad=True)
    text = gradrepl.save(x * float("nan"), tmp_path / "y.json", values=True).read_text()
    assert json.loads(text)["nodes"][0]["arguments"] == {"other": "nan"}


@pytest.mark.parametrize(
    "path, message",
    [
        ("y.gif", "y.gif: the suffix names the format, one of .svg"),
        ("y", "y: the suffix names the format"),
        ("missing/y.svg", "there is no folder"),
        ("folder.svg", "is a folder"),
    ],
)
def test_bad_places(path, message, tmp_path):
    (tmp_path / "folder.svg").mkdir()
    y, _ = simple()
    with pytest.raises(GraphError, match=re.escape(message)):
        gradrepl.save(y, tmp_path / path)
    assert os.listdir(tmp_path) == ["folder.svg"]


def test_an_unwritable_place(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    y, _ = simple()
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(GraphError, match="cannot write .*: Permission denied"):
        gradrepl.save(y, tmp_path / "y.svg")


def test_a_file_is_replaced_whole_or_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "y.svg"
    path.write_text("old")
    y, _ = simple()
    with monkeypatch.context() as patched:
        patched.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(GraphError, match="No space left"):
            gradrepl.save(y, path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["y.svg"]
    gradrepl.save(y, path)
    assert path.read_text().startswith("<svg")


def test_what_the_system_alone_can_write(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    y, _ = simple()
    with pytest.raises(GraphError, match="pdf needs Graphviz's own dot, which is not installed"):
        gradrepl.save(y, tmp_path / "y.pdf")
    assert os.listdir(tmp_path) == []


def test_a_layout_that_takes_too_long_is_drawn_with_fewer_cards(monkeypatch):
    lengths, really = [], svg.lay_out

    def slow(dot, *options, seconds):
        lengths.append(len(dot))
        if len(lengths) < 2:
            raise layout.TooSlow
        return really(dot, *options, seconds=seconds)

    monkeypatch.setattr(svg, "lay_out", slow)
    text = svg.to_svg(gradrepl.graph(programs.tree(torch, 9), names={}))
    assert len(lengths) == 2 and lengths[1] < lengths[0] and "cards took longer than 10 s to lay out, so these are fewer" in text


def test_the_time_limit():
    with pytest.raises(layout.TooSlow):
        layout.run([sys.executable, "-c", "import time; time.sleep(20)"], "", 0.2)


def test_fold_false_beyond_what_can_be_drawn_says_so():
    y, names = golden.unrolled(torch, 2500)[:2]
    text = svg.to_svg(gradrepl.graph(y, names=names, fold=False))
    assert "fold=False draws up to 6000 nodes; these are 7502, so repeats are folded" in text


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_stops_a_layout_and_leaves_nothing(tmp_path):
    script = f"""
import signal, subprocess, sys
from gradrepl.render import layout
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a script is started with it ignored
layout.program = lambda: {str(tmp_path / "dot")!r}
import gradrepl
x = gradrepl.torch.ones(2, requires_grad=True)
print("ready", flush=True)
try:
    gradrepl.save((x * x).sum(), {str(tmp_path / "y.svg")!r})
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    fake = tmp_path / "dot"
    fake.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(30)\n")
    fake.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "stopped\n"
    assert os.listdir(tmp_path) == ["dot"]


def test_a_notebook_gets_the_picture_and_the_tree():
    y, names = simple()
    bundle = gradrepl.graph(y, names=names)._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg") and bundle["text/plain"].startswith("SumBackward0")
