"""The pictures of sessions show what the program prints."""

import importlib.util
import os
import re
from html import unescape
from pathlib import Path

import pytest

SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
TEXT = re.compile(r'<text class="[^"]*" x="[^"]*" y="([^"]*)"[^>]*clip-path[^>]*>([^<]*)</text>')


def maker():
    spec = importlib.util.spec_from_file_location("make_sessions", SCREENSHOTS / "make_sessions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(svg):
    """The text of a picture, line by line: rich's drawing may change from version to version, the words may not."""
    found: dict[str, str] = {}
    for y, text in TEXT.findall(svg):
        found[y] = found.get(y, "") + unescape(text).replace("\xa0", " ").rstrip("\n")
    return [line.rstrip() for line in found.values()]


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("name", maker().SESSIONS)
def test_picture_shows_the_session(name):
    pytest.importorskip("pexpect")
    kept = (SCREENSHOTS / f"session_{name}.svg").read_text()
    assert len(lines(kept)) > 10
    assert lines(kept) == lines(maker().session_svg(name)), "python screenshots/make_sessions.py draws it anew"
    assert "http" not in kept.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")
