"""The sessions of the README, and how to replay them: as one shell session, and as commands. Used by test_readme.py.

python -m tests.readme          writes what the program prints now into README.md
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
SESSION = re.compile(r"```pycon\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
REPLAY = "import sys; from gradrepl.repl.demo import run; sys.exit(run(sys.stdin.read(), fast=True))"


def inputs(session: str) -> str:
    """What is typed in a session."""
    lines = [line[4:] for line in session.split("\n") if line.startswith((">>> ", "... ")) or line in ("...", ">>>")]
    return "\n".join(lines)


def environment() -> dict:
    return {
        **os.environ,
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "PYTHONPATH": os.pathsep.join([str(README.parent), *sys.path]),
    }


def replayed(sessions: list[str], folder: str) -> list[str]:
    """What each session prints, with the inputs, all of them one after the other in one shell."""
    marks = [f'print("—{number}—")' for number in range(len(sessions))]
    script = "\n".join(f"{inputs(session)}\n{mark}" for session, mark in zip(sessions, marks, strict=True))
    done = subprocess.run(
        [sys.executable, "-c", REPLAY], input=script, capture_output=True, text=True, timeout=120, cwd=folder, env=environment()
    )
    text = (done.stdout + done.stderr).replace("\n... \n", "\n...\n")
    found = []
    for number, mark in enumerate(marks):
        part, _, text = text.partition(f">>> {mark}\n—{number}—\n")
        found.append(part)
    return found


def answered(console: str, folder: str) -> str:
    """A console block with what its commands print now."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", console, re.MULTILINE):
        real = re.sub(r"(?<!\S)gradrepl(?= )", f"{sys.executable} -m gradrepl", command)
        done = subprocess.run(["bash", "-c", real], capture_output=True, text=True, timeout=120, cwd=folder, env=environment())
        lines += [f"$ {command}", *(done.stdout + done.stderr).rstrip("\n").split("\n")]
    return "\n".join(line for line in lines if line) + "\n"


def refreshed(text: str) -> str:
    """The README with everything replayed."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = iter(replayed(SESSION.findall(text), folder))
        text = SESSION.sub(lambda _: f"```pycon\n{next(sessions)}```", text)
        return CONSOLE.sub(lambda match: f"```console\n{answered(match[1], folder)}```", text)


if __name__ == "__main__":
    README.write_text(refreshed(README.read_text()))
