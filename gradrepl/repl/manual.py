"""The text of %help."""

import os

from gradrepl.repl.commands import COMMANDS
from gradrepl.repl.printer import table
from gradrepl.repl.settings import SETTINGS, config_folder

FUNCTIONS = {
    "tree(y)": "the graph under y, here in the terminal",
    "graph(y)": "the same as data; shown as a picture where the terminal can",
    "listing(y)": "a line of text per op, in the order in which they ran",
    'save(y, "y.svg")': "as a file: .svg .png .pdf .dot .html .mmd .json .txt",
    "explain(y)": "the computation line by line, and the chain rule written out",
    "step(y)": "walk backward one node at a time",
    "why(x)": "why x has no gradient, or why backward failed",
    "check(f, x)": "the gradient of f against finite differences",
    "saved(y)": "what is kept in memory for backward",
    "diff(a, b)": "what differs between two graphs",
    "watch(x)": "the tree of x again after each input that changes it",
}
KEYS = {
    "Enter": "run; in a block, start a line (an empty one ends the block)",
    "Alt-Enter": "run at once",
    "Ctrl-O": "start a line",
    "Tab": "complete names, attributes, keys, paths, arguments",
    "Up, Down": "earlier inputs, those that begin with what is typed",
    "Right": "take the grey suggestion",
    "Ctrl-R": "search the history",
    "Ctrl-X Ctrl-E": "open the input in $EDITOR",
    "Ctrl-C": "drop the input, stop a running one",
    "Ctrl-D": "leave",
}


def manual() -> str:
    """What one can type and set; torch, nn, F and np are there from the start."""
    commands = {f"%{name} {command.arguments}".rstrip(): command.meaning for name, command in COMMANDS.items()}
    sections = {
        "functions": FUNCTIONS,
        "commands (a beginning that fits only one will do)": {
            "obj?": "signature, meaning, derivative, an example; obj??: source",
            **commands,
        },
        "keys": KEYS,
        f"settings, in {os.path.join(config_folder(), 'config.toml')}; startup.py beside it runs at the start": {
            name: f"{meaning}; {default!r} if not set" for name, (default, _, meaning) in SETTINGS.items()
        },
    }
    return "\n\n".join(section(title, rows) for title, rows in sections.items())


def section(title: str, rows: dict[str, str]) -> str:
    return f"{title}\n{table([(f'  {name}', meaning) for name, meaning in rows.items()])}"
