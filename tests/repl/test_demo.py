"""The player of demos."""

import pytest

from gradrepl.repl import demo

SCRIPT = """# The chain rule
import torch
# a leaf
x = torch.tensor([3.], requires_grad=True)
for i in range(2):
    # inside
    print(i + 40)

y = x * 2; y
@staticmethod
def f():
    return 1
1 / 0
y
# the end
"""


def test_lines():
    lines = demo.lines_of(SCRIPT)
    assert [line.text for line in lines if not line.typed] == ["The chain rule", "a leaf", "the end"]
    assert [line.text for line in lines if line.typed][2:5] == [
        "for i in range(2):\n    # inside\n    print(i + 40)", "y = x * 2; y", "@staticmethod\ndef f():\n    return 1",
    ]  # fmt: skip


@pytest.fixture
def demos(tmp_path, monkeypatch):
    (tmp_path / "01_chain_rule.py").write_text(SCRIPT)
    (tmp_path / "02_shared.py").write_text("# A shared leaf\n'second'\n")
    monkeypatch.setattr(demo, "FOLDER", tmp_path)


def test_playing(demos, capsys, fed):
    assert demo.play(["chain", "--fast"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("The chain rule\n>>> import torch\na leaf\n>>> x = torch.tensor")
    assert "40\n41\n>>> y = x * 2; y\ntensor([6.], grad_fn=<MulBackward0>)\n" in out and out.endswith("the end\n")
    assert "ZeroDivisionError" in err


def test_listing_and_choosing(demos, capsys, fed):
    assert demo.play(["--list"]) == 0
    assert capsys.readouterr().out.split("\n")[:2] == ["chain_rule        The chain rule", "shared            A shared leaf"]
    assert demo.play(["sharde", "--fast"]) == 2
    assert capsys.readouterr().err == "gradrepl: no demo 'sharde'; did you mean 'shared'?; gradrepl demo --list\n"
    assert demo.play(["--nonsense"]) == 2
    assert demo.play(["shared", "--fast"]) == 0
