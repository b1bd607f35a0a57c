"""Session commands and questions about objects."""

import os
import subprocess
import sys

import pytest

from gradrepl.repl.commands import COMMANDS

SQUARE = "x = torch.tensor([3.], requires_grad=True)"


def test_help_lists_every_command(fed):
    text = fed("%help")
    assert all(f"%{name}" in text for name in COMMANDS)
    assert fed("?") == text
    assert "FILE" in fed("%help run")


def test_an_unknown_command_is_one_line(fed):
    assert fed.error("%histroy") == "no command %histroy; did you mean 'history'?\n"
    assert fed.error("%zzzzz").count("\n") == 1


def test_what_config_and_timeit_cannot_do(fed):
    assert fed.error("%config histroy") == "no setting 'histroy'; did you mean 'history'?\n"
    assert fed.error("%config zzzzz").count("\n") == 1
    assert "timeit.py" not in fed.error("%timeit 1 / 0")


def test_help_names_every_function_of_the_session(fed):
    from gradrepl.repl.namespace import FUNCTIONS

    text = fed("%help")
    assert all(f"  {name}(" in text for name in FUNCTIONS)


def test_a_beginning_will_do_if_it_fits_one(fed):
    assert fed("1", "%hist") == "1\n   1  1\n"
    assert "may be" in fed.error("%t")


def test_no_command_inside_an_input_or_a_string(fed):
    assert fed("'''\n%vars\n'''") == "'\\n%vars\\n'\n"
    assert fed("7\\\n%4") == "3\n"


def test_vars(fed):
    lines = fed(SQUARE, "y = x * 2", "n = 5", "%vars").splitlines()
    assert [line.split() for line in lines] == [
        ["name", "type", "shape", "dtype", "requires_grad", "grad_fn"],
        ["x", "Tensor", "(1,)", "float32", "True"],
        ["y", "Tensor", "(1,)", "float32", "True", "MulBackward0"],
        ["n", "int"],
    ]


def test_reset_keeps_what_was_there_from_the_start(fed):
    assert fed("a = 1", "torch = 3", "%reset") == "2 names forgotten\n"
    assert "a" not in fed.names
    assert fed("torch.ones(1).shape") == "torch.Size([1])\n"


def test_run(fed, tmp_path):
    (tmp_path / "s.py").write_text("import sys\nprint(sys.argv[1:])\nz = 5\n")
    assert fed(f"%run {tmp_path / 's.py'} a b", "z") == "['a', 'b']\n5\n"
    (tmp_path / "helper.py").write_text("value = 7")
    (tmp_path / "imports.py").write_text("import helper\nprint(helper.value)\n")
    assert fed(f"%run {tmp_path / 'imports.py'}") == "7\n"
    assert str(tmp_path) not in sys.path
    assert "cannot read" in fed.error("%run missing.py")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    assert fed(f"%run {tmp_path / 'leaves.py'}").endswith("leaves.py ended with 3\n")


def test_a_saved_session_is_a_script_that_runs_without_gradrepl(fed, tmp_path):
    path = tmp_path / "demo.py"
    fed(SQUARE, "y = (x ** 2).sum()", "1/0", "y.backward()", "tree(y)", "%vars", "x.grad", "np.ones(2)", f"%save {path}")
    assert path.read_text() == (
        "import torch\nimport numpy as np\n\nx = torch.tensor([3.], requires_grad=True)\ny = (x ** 2).sum()\ny.backward()\n"
        "# tree(y)\nprint(x.grad)\nprint(np.ones(2))\n"
    )
    assert "exists" in fed.error(f"%save {path}")
    fed(f"%save -f {path}")
    done = subprocess.run([sys.executable, "-m", "gradrepl", path], capture_output=True, text=True)
    assert done.stdout == "tensor([6.])\n[1. 1.]\n"


def test_a_saved_session_shows_what_was_shown(fed, tmp_path):
    inputs = [
        "from math import tau",
        "from __future__ import annotations",
        "a = 1; a",
        "a, 2",
        "(b := 3)",
        "'é', a  # why",
        "[\n1,\n2]",
        "print(a)",
        "None",
    ]
    shown = fed(*inputs)
    path = tmp_path / "demo.py"
    fed(f"%save {path}")
    assert path.read_text().startswith("from __future__ import annotations\n")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.stdout == shown and done.stderr == ""


def test_save_where_one_cannot(fed, tmp_path):
    assert fed.error(f"%save {tmp_path}/no/demo.py").count("\n") == 1


def test_load_puts_the_text_at_the_prompt_and_runs_nothing(fed, tmp_path):
    (tmp_path / "a.py").write_text("raise SystemExit\n")
    fed(f"%load {tmp_path / 'a.py'}")
    assert fed.shell.next_text == "raise SystemExit"


def test_edit(fed, monkeypatch, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'y = 2' >> \"$1\"\n")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    fed("x = 1", "%edit")
    assert fed.shell.next_text == "x = 1\ny = 2"
    monkeypatch.setenv("VISUAL", "no-such-editor")
    assert "cannot start no-such-editor" in fed.error("%edit")


def test_history(fed):
    fed("a = 1", "b = 2", "1/0")
    assert fed("%history 2").splitlines() == ["   2  b = 2", "   3  1/0"]
    assert fed("%history b =").splitlines() == ["   2  b = 2"]


def test_time_and_timeit(fed):
    assert fed("%time x = 5").endswith(")\n")
    assert fed("x") == "5\n"
    assert "per loop" in fed("%timeit x + 1")


def test_info_and_config(fed):
    fed(SQUARE, "%info on")
    assert fed("x * 2") == "tensor([6.], grad_fn=<MulBackward0>)\nshape (1,)  dtype float32  grad_fn MulBackward0\n"
    assert fed("x").endswith("leaf, grad None\n")
    assert "history" in fed("%config")
    assert "may be" in fed.error("%config theme pink")
    assert "no setting" in fed.error("%config colour dark")


def test_theme_and_keys(fed):
    assert fed("%theme light", "%theme") == "theme light\ntheme light\n"
    assert fed("%vi", "%vi") == "vi keys\nemacs keys\n"


def test_engine(fed):
    assert "embedded" in fed("%engine")


def test_watch_shows_the_tree_after_each_change(fed):
    fed(SQUARE, "y = x * 2")
    assert fed("watch(y)").startswith("y:\nMulBackward0 y")
    assert fed("1 + 1") == "2\n"
    changed = fed("y = y + 1")
    assert changed.startswith("y:\nAddBackward0 y") and "new: n1 AddBackward0" in changed
    assert fed("y.add_(1);") != ""
    fed("unwatch()")
    assert fed("y = y + 1") == ""
    assert "did you mean 'y'" in fed.error("watch('yy')")


@pytest.mark.parametrize(
    "question, expected",
    [
        (
            "torch.exp?",
            ["torch.exp(input, *, out=None)", "e to the power", "ExpBackward0  self: grad", ">>> torch.exp(x)", "grad_fn=<ExpBackward0>"],
        ),
        ("x?", ["Tensor", "shape (1,)", "leaf"]),
        ("y?", ["MulBackward0", "2 nodes", "derivative"]),
        ("y.grad_fn?", ["a node of the graph", "AccumulateGrad, constant"]),
        ("?tree", ["tree(y", "Return the graph"]),
        ("x.sum?", ["the sum of the elements"]),
        ("len?", ["len(", "number of items"]),
        ("torch.matmul?", ["matrix product", ">>> "]),
    ],
)
def test_questions(fed, question, expected):
    fed(SQUARE, "y = x * 2")
    text = fed(question)
    for part in expected:
        assert part in text


def test_a_question_changes_nothing(fed):
    fed("torch.manual_seed(0)", "torch.rand?")
    first = fed("torch.rand(2)")
    assert fed("torch.manual_seed(0)", "torch.rand(2)").endswith(first)
    assert "x" not in fed.names


def test_the_source_of_a_function(fed):
    assert "def double" in fed("def double(a):\n    return 2 * a", "double??")


def test_commands_leave_files_private_or_as_they_were(fed, tmp_path):
    path = tmp_path / "demo.py"
    path.touch(0o640)
    fed("x = 1", f"%save -f {path}")
    assert os.stat(path).st_mode & 0o777 == 0o640


def test_watching_a_list_and_a_leaf(fed):
    fed(SQUARE, "pair = [x * 2, x * 3]", "loss = (x * 2).sum()")
    assert fed("%watch pair").startswith("pair:\n")
    assert fed("1") == "1\n"
    assert fed("pair[0] = pair[0] + 1").startswith("pair:\n")
    fed("%unwatch", "%watch x")
    assert "grad 2" in fed("loss.backward()")
    assert fed("%watch") == "watched: x\n"
    fed("del x")
    assert fed("1").startswith("1\n")
