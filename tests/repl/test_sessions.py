"""Whole sessions on a real terminal: what a person would see."""

import re
import signal
import stat
import sys

import pytest

from .terminal import Terminal, skip_without_torch

SQUARE = "x = torch.tensor([3.], requires_grad=True)"
REPR = "tensor([6.], grad_fn=<MulBackward0>)"


@pytest.fixture
def open_terminal(tmp_path):
    opened = []

    def start(*words, **options):
        opened.append(Terminal(tmp_path, *words, **options))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


@pytest.fixture
def shell(open_terminal):
    return open_terminal()


def history(home):
    return home / ".local" / "state" / "gradrepl" / "history"


def test_a_first_session(shell):
    shell.run(SQUARE).run("y = x * 2").run("y", REPR)
    shell.run("y.backward()").run("x.grad", "tensor([2.])")
    shell.run("tree(y)", "MulBackward0").ready().press("c-d")
    assert shell.end() == 0


def test_a_block_is_indented_and_an_empty_line_ends_it(shell):
    shell.run("for i in range(2):")
    shell.wait(lambda: shell.line == "..." and shell.screen.cursor.x == 8).type("print(i + 40)").press("enter")
    shell.wait(lambda: shell.line == "..." and shell.screen.cursor.x == 8).press("enter")
    shell.wait("\n40\n41\n").ready()


def test_a_pasted_doctest_runs_example_by_example(shell):
    shell.ready().paste(f">>> {SQUARE}\n>>> x * 2\ntensor([9.], grad_fn=<OldBackward0>)\n>>> x.shape\n")
    shell.wait("OldBackward0").press("enter")
    shell.wait("torch.Size([1])").wait(f">>> x * 2\n{REPR}").ready()


def test_a_pasted_class_with_blank_lines(shell):
    shell.ready().paste("class A:\n    x = 41\n\n    def f(self):\n        return self.x\n\nA().f() + 1\n")
    shell.wait("A().f() + 1").press("enter").wait("\n42\n").ready()


def test_a_paste_without_marks(shell):
    shell.ready().type("class A:\r    x = 41\r\r    def f(self):\r        return self.x\r\rA().f() + 1\r").wait("\n42\n").ready()
    assert "Error" not in shell.text


def test_lines_typed_ahead_run_one_by_one(shell):
    shell.ready().type("1 + 1\r2 + 2\r3 + 3\r").wait("\n2\n").wait("\n4\n").wait("\n6\n")


def test_the_values_are_the_same_typed_pasted_and_piped(shell):
    shell.run(SQUARE).run("x * 2", REPR).ready().paste(f"{SQUARE}\nx * 2").wait("... x * 2").press("enter").wait(REPR, 2)
    assert shell.text.count(REPR) == 2


def test_up_recalls_a_whole_block(shell):
    shell.ready().paste("for i in range(2):\n    print(i + 40)\n").wait("print").press("enter").wait("\n40\n41\n")
    shell.ready().press("up").wait("print", 2).press("enter").wait("41\n", 2).ready()


def test_control_c_drops_the_line_and_keeps_the_names(shell):
    shell.run("a = 5").ready().type("a = 6").wait("a = 6").press("c-c").ready().run("a", "\n5\n")


def test_control_c_stops_an_evaluation(shell):
    shell.run("b = 7").run("import time; b = 8; print('be' + 'gun'); time.sleep(60)", "begun")
    shell.press("c-c").wait("KeyboardInterrupt").run("b", "\n8\n")


def test_control_c_in_the_menu_and_in_a_search(shell):
    shell.run("alpha = alpine = 1").ready().type("al").press("tab").wait("alpine").press("c-c").ready()
    shell.press("c-r").wait("search").press("c-c")
    shell.run("alpha + 41", "\n42\n")


def test_a_held_control_c_leaves_a_prompt(shell):
    shell.ready().press(*["c-c"] * 30)
    shell.run("40 + 2", "\n42\n")


def test_control_d_leaves_only_on_an_empty_line(shell):
    shell.ready().type("xy").press("left", "c-d").wait(lambda: shell.line == ">>> x").press("backspace").ready().press("c-d")
    assert shell.end() == 0


@pytest.mark.parametrize("text, status", [("exit", 0), ("quit()", 0), (":q", 0), ("exit(3)", 3), ("import sys; sys.exit('no')", 1)])
def test_exit_status(shell, text, status):
    shell.ready().type(text).press("enter")
    assert shell.end() == status


def test_a_traceback_and_what_to_do(shell):
    shell.run(SQUARE).run("y = x.exp()").run("y.backward()").run("y.backward()", "retain_graph=True)")
    assert "in ExpBackward0 n1, made by line 1 of input 2: x.exp()" in shell.text


def test_completion_and_enter_on_a_selected_candidate(shell):
    shell.run("globals().update(zeta_one=41, zeta_two=42)").ready().type("zet").press("tab").wait("zeta_two")
    shell.press("tab").wait(lambda: shell.line == ">>> zeta_one").press("enter")
    shell.wait(lambda: shell.line == ">>> zeta_one" and "zeta_two " not in shell.text).press("enter").wait("\n41\n").ready()


def test_a_single_candidate_is_completed(shell):
    shell.run("globals().update(zeta=42)").ready().type("zet").press("tab").wait(lambda: shell.line == ">>> zeta").press("enter")
    shell.wait("\n42\n")


def test_the_grey_suggestion(shell):
    shell.run("value = 42").ready().type("val").wait(lambda: shell.line == ">>> value = 42")
    shell.press("right").type("0").wait(lambda: shell.line == ">>> value = 420").press("enter").run("value", "\n420\n")


def test_the_toolbar_and_the_signature(shell):
    shell.run(SQUARE).run("(x * 2).sum()", "SumBackward0>)").ready()
    shell.wait("embedded").wait("SumBackward0, 3 nodes, depth 3")
    shell.type("torch.exp(").wait("exp(input, *, out=None)").press("c-c")


def test_forty_columns(open_terminal):
    shell = open_terminal(columns=40, lines=24)
    shell.run(SQUARE).run("y = (x * 2).exp().sum()").run("tree(y)", "leaf")
    assert all(len(line) <= 40 for line in shell.text.split("\n"))
    shell.ready().press("c-d")
    assert shell.end() == 0


def test_a_resize_leaves_no_stale_line(shell):
    shell.ready().type("some_name = 'a text that is long enough to be broken in a narrow terminal'").wait("narrow")
    shell.process.setwinsize(40, 50)
    shell.screen.resize(40, 50)
    shell.process.kill(signal.SIGWINCH)
    shell.wait(lambda: shell.line.endswith("terminal'")).press("c-c").ready().run("40 + 2", "\n42\n")


def test_dumb_terminal(open_terminal):
    shell = open_terminal(TERM="dumb")
    shell.ready().type("for i in range(2):\r").wait("...").type("    print(i + 40)\r").wait("...", 2).type("\r").wait("\n40").wait(
        "\n41"
    ).ready()
    shell.type("1/0\r").wait("ZeroDivisionError").ready().type("exit(4)\r")
    assert shell.end() == 4
    assert b"\x1b" not in shell.raw


def test_no_color(open_terminal):
    shell = open_terminal(NO_COLOR="1")
    shell.run(SQUARE).run("x * 2", REPR).run("tree(x * 2)", "leaf").run("1/0", "ZeroDivisionError").ready()
    colours = set(re.findall(rb"\x1b\[[\d;]*m", shell.raw)) - {b"\x1b[0m", b"\x1b[m", b"\x1b[0;1m", b"\x1b[0;7m"}
    assert not [code for code in colours if re.search(rb"[34]\d", code)]


def test_a_background_thread_leaves_the_line_whole(shell):
    shell.run("import threading, time").run("t = threading.Thread(target=lambda: (time.sleep(0.3), print('from', 'behind'))); t.start()")
    shell.ready().type("40 + 2").wait("from behind").wait(lambda: shell.line.startswith(">>> 40 + 2")).press("enter").wait("\n42\n")


def test_stop_and_go_on(open_terminal):
    shell = open_terminal(command=["/bin/sh", "-i"], PS1="sh% ")
    shell.wait("sh%").type(f"{sys.executable} -m gradrepl\r").ready().type("40 +").wait(">>> 40 +").press("c-z").wait("sh%", 2)
    shell.type("fg\r").wait(lambda: shell.line.startswith(">>> 40 +")).type(" 2").press("enter").wait("\n42\n")


def test_vi_keys(open_terminal):
    shell = open_terminal("--vi")
    shell.ready().type("abc = 42").wait(">>> abc = 42").press("escape").type("0x").wait(lambda: shell.line == ">>> bc = 42")
    shell.press("enter").run("bc", "\n42\n").run("%vi", "emacs keys")


def test_the_history_survives_a_kill_and_two_sessions(open_terminal, tmp_path):
    first, second = open_terminal(), open_terminal()
    first.run("from_first = 1")
    second.run("from_second = 2").ready()
    first.ready().process.kill(signal.SIGKILL)
    text = history(tmp_path).read_text()
    assert "+from_first = 1\n" in text and "+from_second = 2\n" in text
    assert stat.S_IMODE(history(tmp_path).stat().st_mode) == 0o600
    third = open_terminal()
    third.ready().press("up").wait("from_second = 2")


def test_a_broken_history_and_a_read_only_home(open_terminal, tmp_path):
    history(tmp_path).parent.mkdir(parents=True)
    history(tmp_path).write_bytes(b"\xff\xfe\0 nonsense\n+kept = 1\n\x80")
    shell = open_terminal()
    shell.run("40 + 2", "\n42\n").ready()
    blocked = open_terminal(XDG_STATE_HOME="/proc/none")
    blocked.run("40 + 2", "\n42\n").wait("the history is not saved").run("41 + 2", "\n43\n")
    homeless = open_terminal(HOME="/nonexistent")
    homeless.run("40 + 2", "\n42\n")


def test_configuration_and_startup_script(open_terminal, tmp_path):
    folder = tmp_path / ".config" / "gradrepl"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('info = true\ntoolbar = false\ncolour = "red"\n')
    (folder / "startup.py").write_text("from math import tau\nlucky = 42\n")
    shell = open_terminal()
    shell.wait("no setting 'colour'").run("lucky", "\n42\n").run("torch.ones(1)", "shape (1,)  dtype float32  no gradient").ready()
    assert "embedded │" not in shell.text
    (folder / "config.toml").write_text("info = [")
    (folder / "startup.py").write_text("1/0\n")
    broken = open_terminal()
    broken.wait("Invalid value").wait("ZeroDivisionError").run("40 + 2", "\n42\n").ready()
    assert broken.text.count("gradrepl: ") == 2


def test_the_shell_after_a_failing_script(open_terminal, tmp_path):
    (tmp_path / "fails.py").write_text("kept = 42\n1/0\n")
    shell = open_terminal("-i", "fails.py")
    shell.wait("ZeroDivisionError").run("kept", "\n42\n")


def test_a_debugger_and_input_use_the_terminal(shell):
    shell.run("name = input('who? ')").wait(lambda: shell.line == "who?").type("me\r").run("name * 2", "'meme'")
    shell.run("import pdb; pdb.run('1 + 1')").wait(lambda: shell.line == "(Pdb)").type("c\r").run("40 + 2", "\n42\n")


def test_output_without_a_newline_keeps_its_line(shell):
    shell.run("print('abc', end='')", "\nabc\n").run("40 + 2", "\n42\n").run("print('x' * 100, end='')", "x" * 100).run("41 + 2", "\n43\n")


def test_closed_standard_output(shell):
    shell.run("import sys; sys.stdout.close()").run("40 + 2", "\n42\n")


def test_leaving_what_was_loaded_at_the_prompt(open_terminal, tmp_path):
    (tmp_path / "lines.py").write_text("answer = 42\nanswer + 1\n")
    shell = open_terminal()
    shell.run("%load lines.py", "answer + 1").press("meta-enter").wait("\n43\n")


@pytest.mark.torch
def test_installed_torch(open_terminal):
    skip_without_torch()
    shell = open_terminal("--engine", "torch")
    shell.run(SQUARE, None).run("x * 2", REPR).run("tree(x * 2)", "leaf").wait("PyTorch").run("%engine", "start with `gradrepl` alone")


def test_a_demo_waits_for_keys_and_can_be_left(open_terminal):
    shell = open_terminal("demo", "chain")
    shell.wait(">>> ").type(" ").wait(">>> ", 2).type(" ").wait(">>> ", 3).type("q")
    assert shell.end() == 0
    whole = open_terminal("demo", "chain", "--fast")
    assert whole.end() == 0 and "grad_fn=<" in whole.text
