"""Every demo runs to its end, and shows what it is about."""

import subprocess
import sys
from pathlib import Path

import pytest

from gradrepl.repl.demo import lines_of, short, title

DEMOS = sorted((Path(__file__).parents[2] / "gradrepl" / "demos").glob("[0-9]*.py"))
# what each demo must show; those that show an error say which
SHOWS = {
    "chain_rule": ["SinBackward0 y = -0.544 () n1", "= h.cos() · 1 · (2 * x)", "tensor(-5.0344)"],
    "shared_leaf": ["used ×3", "x is used 3 times", "tensor([5., 7.])"],
    "broadcasting": ["tensor(1.0000)", "shapes (3, 1) and (3,) together give (3, 3)"],
    "grad_none": ["features.detach() in input 3 cut the graph", "features is not a leaf"],
    "in_place": ["modified by an inplace operation", "p += 1e-6 in input 4 changed p in place", "Fix: p = p + 1e-6"],
    "double_backward": ["MulBackward1", "second derivative", "agrees"],
    "training_step": ["AddmmBackward0", "60 B held for backward", "4 tensors were freed by backward()"],
    "rnn_loop": ["blocks 2-19 of 20", "a second time", "Fix: h = h.detach() between the steps", "tensor(-0.0745)"],
    "nan": ["tensor([   nan, 0.2500])", "hides sqrt(0) only in the forward pass", "! not finite"],
    "custom_function": ["2 of 4 entries disagree", "off by the factor 0.6667", "all 4 entries agree"],
    "what_changed": ["w can no longer be reached", "has grown by 2 ops"],
}
ERRORS = {"in_place": 1, "rnn_loop": 1}


def test_each_demo_is_known():
    assert [short(path.stem) for path in DEMOS] == list(SHOWS)
    assert all(len(title(path.read_text())) > 10 for path in DEMOS)


@pytest.mark.parametrize("path", DEMOS, ids=lambda path: short(path.stem))
def test_demo_plays(path):
    name = short(path.stem)
    done = subprocess.run([sys.executable, "-m", "gradrepl", "demo", name, "--fast"], capture_output=True, text=True, timeout=60)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    for text in SHOWS[name]:
        assert text in said, said
    assert said.count("Traceback") == ERRORS.get(name, 0), said
    for line in lines_of(path.read_text()):
        assert line.text.split("\n")[0] in said
