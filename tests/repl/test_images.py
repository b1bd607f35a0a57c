"""A graph at the prompt: a picture where the terminal takes one, else the tree and a file."""

import io
import os

import pytest

from gradrepl.repl.images import show_graph
from gradrepl.repl.settings import Settings


class Screen(io.StringIO):
    """A terminal that only listens."""

    def isatty(self):
        return True

    def fileno(self):
        raise OSError


@pytest.fixture
def graph(fed):
    fed("x = torch.tensor([3.], requires_grad=True)", "g = graph(x * 2)")
    return fed.names["g"]


@pytest.mark.parametrize("images, start", [("kitty", "\x1b_Ga=T,f=100"), ("iterm", "\x1b]1337;File=inline=1")])
def test_pictures_in_the_terminal(graph, images, start, monkeypatch):
    monkeypatch.delenv("GRADREPL_IMAGES", raising=False)
    screen = Screen()
    show_graph(graph, Settings(images=images), screen)
    assert screen.getvalue().startswith(start)


def test_elsewhere_the_tree_and_the_path_of_a_private_file(graph, monkeypatch):
    monkeypatch.setenv("GRADREPL_IMAGES", "none")
    screen = Screen()
    show_graph(graph, Settings(), screen)
    assert "MulBackward0" in screen.getvalue()
    path = screen.getvalue().rpartition("picture: ")[2].strip()
    assert "MulBackward0" in open(path).read()
    assert os.stat(os.path.dirname(path)).st_mode & 0o077 == 0


def test_in_a_pipe_only_text(fed):
    shown = fed("graph(torch.tensor([3.], requires_grad=True) * 2)")
    assert "\x1b" not in shown and "picture:" not in shown
