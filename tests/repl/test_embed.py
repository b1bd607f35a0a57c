"""`gradrepl.embed()` in a program, `%load_ext gradrepl` in IPython and in a real kernel."""

import subprocess
import sys

import pytest

PROGRAM = """
import gradrepl
from gradrepl import torch
def f():
    local = torch.ones(2, requires_grad=True)
    gradrepl.embed()
    return local
total = 5
f()
gradrepl.embed()
print("after", total, "tree" in globals(), "watch" in globals(), __import__("sys").displayhook.__name__)
"""


def test_embedding_in_a_function_and_in_a_module(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    typed = "local * total\nlocal = 3\nexit\nmine = 1\n%reset\ntotal = total + 1\ntree(torch.ones(1, requires_grad=True) * 2)\nexit\n"
    done = subprocess.run([sys.executable, path], input=typed, capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert lines[0] == "tensor([5., 5.], grad_fn=<MulBackward0>)"
    assert lines[1] == "1 name forgotten"
    assert lines[2].startswith("MulBackward0")
    assert lines[-1] == "after 6 False False displayhook"


@pytest.fixture
def ipython():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()


def test_the_extension(ipython, capsys, tmp_path, fed):
    ipython.run_cell("%load_ext gradrepl")
    ipython.run_cell("import torch; x = torch.ones(2, requires_grad=True); y = (x * 2).sum()")
    ipython.run_cell("%tree y")
    assert "SumBackward0" in capsys.readouterr().out
    assert "x" in str(ipython.run_cell("tree(y)").result)
    ipython.run_cell(f"%graph y {tmp_path}/y.svg")
    assert "MulBackward0" in (tmp_path / "y.svg").read_text()
    graph = ipython.run_cell("%graph y").result
    assert "image/svg+xml" in graph._repr_mimebundle_()
    ipython.run_cell("%unload_ext gradrepl")
    assert "tree" not in ipython.user_ns and "y" in ipython.user_ns


def test_in_a_kernel():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [
        "import gradrepl; gradrepl.use_embedded_torch()\n%load_ext gradrepl",
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\ny",
        "graph(y)",
        "%tree y",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    value, picture, tree = (cell.outputs[0] for cell in notebook.cells[1:])
    assert value.data["text/plain"] == "tensor(4., grad_fn=<SumBackward0>)"
    assert "<svg" in picture.data["image/svg+xml"] and "MulBackward0" in picture.data["image/svg+xml"]
    assert "SumBackward0" in tree.text
