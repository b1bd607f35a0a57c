"""The README tells what the program prints, and what is there."""

import re
import tempfile

import pytest

import gradrepl
from gradrepl.repl.commands import COMMANDS
from tests.readme import CONSOLE, README, SESSION, answered, replayed

TEXT = README.read_text()


def test_sessions_are_what_the_shell_prints():
    sessions = SESSION.findall(TEXT)
    assert len(sessions) >= 5
    with tempfile.TemporaryDirectory() as folder:
        for written, printed in zip(sessions, replayed(sessions, folder), strict=True):
            assert written == printed, "python -m tests.readme brings README.md up to date"


@pytest.mark.parametrize("console", CONSOLE.findall(TEXT), ids=lambda text: text.split("\n")[0][:40])
def test_commands_print_what_is_written(console, tmp_path):
    assert answered(console, str(tmp_path)) == console


def test_every_function_and_command_is_in_the_tables():
    for name in set(gradrepl.__all__) - {"mimebundle", "unload_ipython_extension"}:  # what notebooks call
        assert f"`{name}" in TEXT or f".{name}" in TEXT, name
    for name in COMMANDS:
        assert f"%{name}" in TEXT, name


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (README.parent / target).exists(), target
