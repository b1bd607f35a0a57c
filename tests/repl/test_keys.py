"""What the keys do, pressed one after the other on a pretended terminal."""

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from gradrepl.repl.history import HistoryFile
from gradrepl.repl.prompt import TerminalReader
from gradrepl.repl.settings import Settings

UP, LEFT, META_ENTER, CTRL_C, CTRL_D, CTRL_R, BACKSPACE = "\x1b[A", "\x1b[D", "\x1b\r", "\x03", "\x04", "\x12", "\x7f"


def pasted(text):
    return f"\x1b[200~{text}\x1b[201~"


@pytest.fixture
def press(tmp_path):
    """Read one input for each list of keys; the inputs that were read."""

    def read(*inputs, history=(), default=""):
        file = HistoryFile(str(tmp_path / "state" / "history"))
        for entry in history:
            file.append(entry)
        with create_pipe_input() as source:
            reader = TerminalReader(
                Settings(), complete=lambda text: [], toolbar=lambda session: "", warm_up=lambda: None, history=file, input=source,
                output=DummyOutput(),
            )  # fmt: skip
            found = []
            for text in inputs:
                source.send_text(text)
                found.append(reader.read(default))
            return found if len(found) > 1 else found[0]

    return read


def test_enter_runs_a_complete_line(press):
    assert press("x = 1\r") == "x = 1"


def test_a_newline_is_enter_too(press):
    assert press("x = 1\n") == "x = 1"


def test_an_empty_line_ends_a_block(press):
    assert press("for i in x:\r    print(i)\r\r").rstrip() == "for i in x:\n    print(i)"


def test_an_open_bracket_goes_on(press):
    assert press("f(1,\r2)\r") == "f(1,\n2)"


def test_meta_enter_always_runs(press):
    assert press(f"for i in x:{META_ENTER}") == "for i in x:"


def test_control_c_drops_the_line(press):
    with pytest.raises(KeyboardInterrupt):
        press(f"x = {CTRL_C}")


def test_control_d_leaves_on_an_empty_line_only(press):
    with pytest.raises(EOFError):
        press(CTRL_D)
    assert press(f"xy{LEFT}{CTRL_D}\r") == "x"


def test_up_recalls_a_whole_block_and_enter_runs_it(press):
    block = "def f():\n    return 1"
    assert press(f"{UP}\r", history=["x = 1", block]) == block
    assert press(f"{UP}{UP}{UP}\r", history=[]).startswith("x = 1")


def test_up_looks_for_what_begins_like_the_line(press):
    assert press(f"x{UP}\r", history=["x = 1", "y = 2"]) == "x = 1"


def test_search(press):
    assert press(f"{CTRL_R}yy\r\r", history=["yyy = 1", "z = 2"]) == "yyy = 1"


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "class A:\n    x = 1\n\n    def f(self):\n        return 1\n\n\nA().f()",
        "def f():\n    return 1",
        ">>> x = 1\n>>> x\n1",
        "    a = 1\n    b = 2",
    ],
)
def test_a_paste_arrives_as_it_is_and_one_enter_runs_it(press, text):
    assert press(pasted(text) + "\r") == text


def test_a_paste_loses_terminal_codes_and_carriage_returns(press):
    assert press(pasted("x = 1\r\ny =\x1b 2\x00") + "\r") == "x = 1\ny = 2"


def test_an_edited_paste_needs_its_empty_line(press):
    assert press(pasted("def f():\n    return 1") + "0\r\r").rstrip() == "def f():\n    return 10"


def test_a_paste_without_marks_keeps_its_own_indent_and_its_blank_lines(press):
    text = "class A:\r    x = 1\r\r    def f(self):\r        return 1\r\r"
    assert press(text).rstrip() == "class A:\n    x = 1\n\n    def f(self):\n        return 1"


def test_tabs_of_a_paste_without_marks(press):
    assert press("if x:\r\ty = 1\r\r").rstrip() == "if x:\n\ty = 1"


def test_lines_typed_ahead_are_inputs_of_their_own(press):
    assert press("x = 1\ry = 2\r", "") == ["x = 1", "y = 2"]


def test_a_text_left_at_the_prompt_can_be_run(press):
    assert press("\r", default="x = 1") == "x = 1"


def test_backspace_in_an_indent_takes_four(press):
    assert press(f"if x:\r    y\r    {BACKSPACE}z\r\r").rstrip().endswith("\nz")


def test_control_o_makes_a_line(press):
    assert press("x = 1\x0fy = 2\r") == "x = 1\ny = 2"


def test_inputs_go_to_the_file_before_they_run(press, tmp_path):
    press("x = 1\r")
    path = tmp_path / "state" / "history"
    assert "+x = 1\n" in path.read_text() and path.stat().st_mode & 0o777 == 0o600
