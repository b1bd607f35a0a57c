"""Record demos in a terminal and write what it shows as SVG beside this file: the pictures of sessions in the README.

    python screenshots/make_sessions.py [NAME ...] [--to FOLDER]

A demo runs on a pseudo-terminal, as `gradrepl demo NAME --fast`; rich turns its output, colours and all, into SVG.
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SESSIONS = ("chain_rule", "grad_none", "in_place", "nan", "rnn_loop")  # demos
WIDTH = 100
FONT = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)  # from the network, which a picture should not need


def record(demo: str) -> str:
    """What a terminal gets when a demo is played."""
    import pexpect

    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home,
            "COLUMNS": str(WIDTH), "PYTHONPATH": str(HERE.parent), "PYTHONUTF8": "1",
        }  # fmt: skip
        environment.pop("NO_COLOR", None)
        arguments = ["-m", "gradrepl", "demo", demo, "--fast"]
        terminal = pexpect.spawn(sys.executable, arguments, env=environment, dimensions=(50, WIDTH), encoding="utf-8", timeout=60)
        terminal.expect(pexpect.EOF)
        terminal.close()
    if terminal.exitstatus:
        raise RuntimeError(f"gradrepl demo {demo} ended with status {terminal.exitstatus}:\n{terminal.before}")
    return terminal.before.replace("\r\n", "\n").rstrip()


def session_svg(demo: str) -> str:
    """The session as SVG."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    console = Console(
        record=True, width=WIDTH, file=open(os.devnull, "w"), force_terminal=True, color_system="truecolor", legacy_windows=False
    )
    console.print(Text.from_ansi(record(demo)), soft_wrap=False)
    return console.export_svg(title=f"gradrepl demo {demo}", code_format=FONT.sub("", CONSOLE_SVG_FORMAT), unique_id=f"session-{demo}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=SESSIONS)
    parser.add_argument("--to", type=Path, default=HERE)
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        target = options.to / f"session_{name}.svg"
        target.write_text(session_svg(name))
        print(target)


if __name__ == "__main__":
    main()
