"""The command line: what runs, what is shown, and the exit status, as with Python."""

import os
import subprocess
import sys

import pytest

from gradrepl.cli import UsageError, parse

from ..repl.terminal import skip_without_torch

PROGRAM = "x = torch.tensor([1., 2., 3.], requires_grad=True)\ny = x ** 2 + 2 * x + 1\nprint(y.grad_fn)"


def gradrepl(*words, stdin="", cwd=None, **env):
    return subprocess.run(
        [sys.executable, "-m", "gradrepl", *map(str, words)], input=stdin, capture_output=True, text=True, cwd=cwd, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **env},
    )  # fmt: skip


def test_code_its_picture_and_its_tree(tmp_path):
    done = gradrepl("-c", "import torch\n" + PROGRAM, "-o", tmp_path / "y.svg", "-o", tmp_path / "y.dot", "--tree")
    assert done.returncode == 0 and done.stderr == ""
    first, *tree = done.stdout.splitlines()
    assert first.startswith("<AddBackward0 object at 0x")
    assert tree[0].startswith("AddBackward0") and "x" in tree[-1]
    svg = (tmp_path / "y.svg").read_text()
    assert all(text in svg for text in ("AddBackward0", "MulBackward0", "PowBackward0", ">x<"))
    assert (tmp_path / "y.dot").exists()


@pytest.mark.parametrize("last", ["tree(y)", "graph(y)", "y.backward(torch.ones(3))", "[y]", "y.grad_fn", "torch.ones(2)"])
def test_the_last_graph_is_meant_whatever_comes_last(last, tmp_path):
    done = gradrepl("-c", f"{PROGRAM}\nfor step in [1]: loss = y * 2\n{last}", "-o", tmp_path / "y.svg")
    assert done.returncode == 0 and done.stderr == ""
    assert "AddBackward0" in (tmp_path / "y.svg").read_text()


def test_the_value_of_a_last_expression_is_shown():
    assert gradrepl("-c", "torch.ones(1)").stdout == "tensor([1.])\n"
    assert gradrepl("-c", "1; 2").stdout == "2\n"


def test_a_pipe_is_a_script_without_prompts_and_colours():
    done = gradrepl(stdin="x = 1\nif x:\n    print(x)\n\n    print(x)\nx + 1\n")
    assert (done.stdout, done.stderr, done.returncode) == ("1\n1\n2\n", "", 0)
    assert gradrepl("-", "a", stdin="import sys; print(sys.argv)").stdout == "['-', 'a']\n"


def test_a_file_gets_its_arguments(tmp_path):
    script = tmp_path / "s.py"
    script.write_text(
        "import sys, helper\nfrom torch import ones\n"
        "print(sys.argv[1:], __name__, __file__, sys.path[0])\ny = ones(1, requires_grad=True) * 2\n"
    )
    (tmp_path / "helper.py").touch()
    done = gradrepl(script, "--verbose", "a", "--tree")
    assert done.stdout.splitlines()[0] == f"['--verbose', 'a'] __main__ {script} {tmp_path}"
    assert done.stdout.splitlines()[1].startswith("MulBackward0")
    assert "'--tree'" in gradrepl(script, "--", "--tree").stdout


def test_a_module_gets_all_that_follows(tmp_path):
    (tmp_path / "mod.py").write_text("import sys; print(sys.argv[1:], __name__); y = __import__('torch').ones(1, requires_grad=True) * 2")
    done = gradrepl("--tree", "-m", "mod", "-o", "x", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "['-o', 'x'] __main__"
    assert done.stdout.splitlines()[1].startswith("MulBackward0")
    assert gradrepl("-m", "nosuch").returncode == 1


@pytest.mark.parametrize(
    "code, status, error",
    [
        ("import sys; sys.exit(3)", 3, ""), ("raise SystemExit", 0, ""), ("import sys; sys.exit('no')", 1, "no\n"), ("exit(4)", 4, ""),
        ("x = = 1", 1, "SyntaxError: invalid syntax"), ("1/0", 1, "ZeroDivisionError: division by zero\n"),
        ("import os; os._exit(9)", 9, ""),
    ],
)  # fmt: skip
def test_exit_status(code, status, error):
    done = gradrepl("-c", code)
    assert done.returncode == status and error in done.stderr
    assert gradrepl(stdin=code).returncode == status


def test_an_interrupt_ends_as_in_python():
    assert gradrepl("-c", "raise KeyboardInterrupt").returncode == -2


def test_a_traceback_has_the_line_and_only_the_users_frames():
    done = gradrepl("-c", "def f():\n    1 / 0\nf()")
    lines = [line for line in done.stderr.splitlines(keepends=True) if line.strip("~^ \n") or "~~^~~" in line]  # newer Pythons mark more
    assert "".join(lines) == (
        'Traceback (most recent call last):\n  File "<gradrepl-1>", line 3, in <module>\n    f()\n  File "<gradrepl-1>", line 2, in f\n'
        "    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero\n"
    )


def test_inspecting_after_a_failing_script(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("x = 5\n1 / 0\n")
    done = gradrepl("-i", script, stdin="x + 1\n")
    assert done.stdout == "6\n" and "ZeroDivisionError" in done.stderr and ">>> " in done.stderr and done.returncode == 0


@pytest.mark.parametrize(
    "words, text",
    [
        (["--nonsense"], "unknown option --nonsense"), (["-c"], "-c needs a value"), (["--engine", "jax"], "no engine 'jax'"),
        (["no_such_file.py"], "can't open file"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_one_line_and_status_two(words, text):
    done = gradrepl(*words)
    assert done.returncode == 2 and done.stderr.startswith("gradrepl: ") and text in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "code, target",
    [("torch.ones(3)", "y.svg"), ("5", "y.svg"), (PROGRAM, "y.bmp"), (PROGRAM, "no/such/folder/y.svg"), ("pass", "y.svg")],
    ids=["no graph", "no tensor", "suffix", "folder", "nothing"],
)
def test_what_cannot_be_saved_is_one_line(code, target, tmp_path):
    done = gradrepl("-c", code, "-o", target, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("gradrepl: ") and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_broken_pipe_is_quiet():
    done = subprocess.run(
        f"{sys.executable} -m gradrepl -c 'for i in range(100_000): print(i)' | head -1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "0\n" and done.stderr == ""


def test_help_and_version():
    assert "usage: gradrepl" in gradrepl("--help").stdout
    assert gradrepl("-V").stdout.startswith("gradrepl 0.")


def test_the_same_values_by_every_way_in(tmp_path):
    (tmp_path / "s.py").write_text(PROGRAM + "\nprint(y)")
    ways = [gradrepl("-c", PROGRAM + "\nprint(y)"), gradrepl(tmp_path / "s.py"), gradrepl(stdin=PROGRAM + "\nprint(y)")]
    lines = {way.stdout.split("\n", 1)[1] for way in ways}
    assert lines == {"tensor([ 4.,  9., 16.], grad_fn=<AddBackward0>)\n"}


def test_nothing_heavy_is_imported_at_the_start():
    heavy = ("rich", "graphviz", "jedi", "scipy", "prompt_toolkit", "pygments", "argparse")
    code = f"import sys; print([m for m in {heavy} if m in sys.modules])"
    assert gradrepl("-c", "y = torch.ones(1) * 2\n" + code).stdout == "[]\n"
    assert gradrepl("-c", "import sys; print('numpy' in sys.modules)").stdout == "False\n"


def test_the_shell_starts_without_numpy_rich_pygments():
    code = (
        "import sys; from gradrepl.repl.start import interact; from gradrepl.repl.prompt import TerminalReader;"
        "print([m for m in ('numpy', 'torch', 'rich', 'graphviz', 'jedi', 'scipy', 'pygments', 'gradrepl.engine') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n"


def test_the_engine_is_imported_by_its_own_name_or_torchs():
    code = "import torch.autograd, gradrepl; print(torch is gradrepl.torch, torch.autograd is gradrepl.torch.autograd)"
    assert gradrepl("-c", code).stdout == "True True\n"


@pytest.mark.torch
def test_the_installed_torch():
    skip_without_torch()
    assert gradrepl("--engine", "torch", "-c", "torch.__version__ != '' and torch._C is not None").stdout == "True\n"


def test_the_order_of_words():
    options = parse(["-o", "a.svg", "-c", "pass", "x", "-o", "b.svg", "--tree", "--", "--tree"])
    assert (options.kind, options.program, options.outputs, options.tree, options.arguments) == (
        "code",
        "pass",
        ["a.svg", "b.svg"],
        True,
        ["x", "--tree"],
    )
    with pytest.raises(UsageError):
        parse(["-x"])


def test_what_cannot_be_saved_does_not_keep_the_rest_back(tmp_path):
    done = gradrepl("-c", PROGRAM, "-o", "y.nope", "-o", "nowhere/y.svg", "-o", "y.txt", "--tree", cwd=tmp_path)
    assert (tmp_path / "y.txt").exists() and "AddBackward0 y" in done.stdout
    assert len(done.stderr.splitlines()) == 2 and done.returncode == 1


def test_one_reason_is_told_once_and_the_status_of_the_program_stays():
    assert len(gradrepl("-c", "5", "-o", "y.svg", "--tree").stderr.splitlines()) == 1
    assert gradrepl("-c", PROGRAM + "\nimport sys; sys.exit(3)", "--tree").returncode == 3
    assert gradrepl("-c", "import sys; sys.exit(3)", "--tree").returncode == 3


@pytest.mark.parametrize("words", ["demo", "demo --list"])
def test_a_demo_in_a_broken_pipe_is_quiet(words):
    done = subprocess.run(
        f"{sys.executable} -m gradrepl {words} | head -1", shell=True, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == 1 and done.stderr == ""


def test_a_scripts_own_interactive_statements_show_their_values(tmp_path):
    (tmp_path / "replay.py").write_text(
        "import contextlib, io\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n"
        "    exec(compile('torch.ones(2)', '<case>', 'single'), {'torch': torch})\nprint([out.getvalue()])\n7"
    )
    done = gradrepl(tmp_path / "replay.py")
    assert (done.stdout, done.stderr) == ("['tensor([1., 1.])\\n']\n", "")
