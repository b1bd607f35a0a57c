"""Pictures in the terminal: the question, the answer, the encoding."""

import base64
import os
import re
import threading

import pytest

from gradrepl.render import inline

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 50
KITTY = "\x1b_Gi=31;OK\x1b\\\x1b[?62;c"
VT = "\x1b[?62;4c"


class Output:
    """A stream that gathers what is written; a terminal or not."""

    def __init__(self, terminal=True):
        self.text, self.terminal = "", terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return self.terminal

    def fileno(self):
        return 1


@pytest.mark.parametrize(
    "answer, expected",
    [
        (KITTY, "kitty"),
        ("\x1bP>|iTerm2 3.5.0\x1b\\" + VT, "iterm"),
        ("\x1bP>|WezTerm 2024\x1b\\" + VT, "iterm"),
        ("\x1bP>|XTerm(388)\x1b\\" + VT, None),
        (VT, None),
        ("", None),
    ],
)
def test_the_answer_is_understood(answer, expected):
    assert inline.understood(answer) == expected


@pytest.mark.parametrize(
    "environment",
    [
        {"TMUX": "x", "TERM": "xterm"},
        {"STY": "1", "TERM": "xterm"},
        {"TERM": "screen-256color"},
        {"TERM": "dumb"},
        {"TERM": "xterm", "TERM_PROGRAM": "Apple_Terminal"},
        {},
    ],
)
def test_nothing_is_asked_of_a_multiplexer_or_a_dumb_terminal(environment, monkeypatch):
    monkeypatch.setattr(inline, "ask", lambda *_: pytest.fail("asked"))
    assert inline.protocol(Output(), environment) is None


def test_nothing_is_asked_of_a_pipe(monkeypatch):
    monkeypatch.setattr(inline, "ask", lambda *_: pytest.fail("asked"))
    assert inline.protocol(Output(terminal=False), {"TERM": "xterm"}) is None


@pytest.mark.parametrize("wish, expected", [("kitty", "kitty"), ("iterm", "iterm"), ("none", None), ("what", None)])
def test_the_environment_decides(wish, expected):
    assert inline.protocol(Output(terminal=False), {"GRADREPL_IMAGES": wish}) == expected


def test_kitty_takes_the_picture_in_chunks():
    text = inline.encoded(PNG, "kitty")
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
    assert base64.b64decode("".join(data for _, data in parts)) == PNG
    assert parts[0][0] == "a=T,f=100,m=1" and parts[-1][0] == "m=0"
    assert all(len(data) <= 4096 for _, data in parts)


def test_iterm_takes_the_picture_whole():
    head, data = inline.encoded(PNG, "iterm").rstrip("\x07\n").split(":")
    assert base64.b64decode(data) == PNG and f"size={len(PNG)}" in head


def test_show_writes_nothing_where_it_cannot(monkeypatch):
    monkeypatch.delenv("GRADREPL_IMAGES", raising=False)
    output = Output(terminal=False)
    assert not inline.show(PNG, output) and output.text == ""
    monkeypatch.setenv("GRADREPL_IMAGES", "iterm")
    assert inline.show(PNG, output) and output.text.startswith("\x1b]1337;File=")


def on_a_terminal(reply):
    """Ask on a pty whose other end answers `reply`; return (answer, was the terminal left as it was)."""
    termios = pytest.importorskip("termios")
    ours, theirs = os.openpty()

    def terminal():
        os.read(ours, 1024)
        os.write(ours, reply.encode())

    before = termios.tcgetattr(theirs)
    thread = threading.Thread(target=terminal)
    thread.start()
    answer = inline.ask(theirs, theirs)
    thread.join()
    same = termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)
    return answer, same


def test_a_terminal_that_answers():
    answer, same = on_a_terminal(KITTY)
    assert answer == KITTY and same


def test_a_terminal_that_does_not_answer_is_waited_for_briefly(monkeypatch):
    waits = []
    monkeypatch.setattr(inline, "waiting", lambda descriptor, seconds=0: waits.append(seconds))
    answer, same = on_a_terminal("")
    assert answer == "" and same
    assert len(waits) == 1 and 0 <= waits[0] <= inline.SECONDS
