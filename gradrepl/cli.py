"""The command line: `gradrepl`, `gradrepl FILE`, `-c`, `-m`, a pipe. Imports what a run needs, and only then."""

import sys

from gradrepl.repl.streams import is_terminal

USAGE = """\
usage: gradrepl [OPTION…]                      the shell
       gradrepl [OPTION…] FILE [ARG…]          run a script; `import torch` gives the embedded engine
       gradrepl [OPTION…] -c CODE [ARG…]       run CODE; the value of a last expression is shown
       gradrepl [OPTION…] -m MODULE [ARG…]     run a module as a script
       gradrepl [OPTION…] < FILE               run standard input as a script
       gradrepl demo [NAME] [--list] [--fast]  a guided demo that types itself

options:
  -o, --output FILE      save the graph of the last value: .svg .png .pdf .dot .html .mmd .json .txt; may repeat
  --tree                 print the tree of the graph of the last value
  -i                     open the shell after FILE, CODE or MODULE has run
  --engine NAME          embedded (the default) or torch, the installed PyTorch
  --theme NAME           colours: dark, light or none
  --vi, --emacs          editing keys
  --no-config            read no configuration and no start-up script
  -V, --version          print the version
  -h, --help             print this text

After FILE and CODE, -o and --tree are still gradrepl's; everything else is the script's, and so is all that follows `--`.
"""
ENGINES = ("embedded", "torch")
# option -> (field of Options, value); without a value here the next word is the value
FLAGS = {
    "--tree": ("tree", True), "-i": ("interactive", True), "--vi": ("keys", "vi"), "--emacs": ("keys", "emacs"),
    "--no-config": ("config", False), "-h": ("show", "help"), "--help": ("show", "help"), "-V": ("show", "version"),
    "--version": ("show", "version"),
}  # fmt: skip
VALUES = {"-o": "outputs", "--output": "outputs", "--engine": "engine", "--theme": "theme"}
# what follows -c and -m is the program; its own arguments come after it
PROGRAMS = {"-c": "code", "-m": "module"}


class UsageError(Exception):
    """The command line makes no sense; the text says why in one line."""


class Options:
    """What was asked for on the command line. Not a dataclass: importing those costs 2 ms at every start."""

    kind: str = "shell"  # shell, stdin, code, module, file, demo
    program: str = ""
    arguments: list[str] = []
    outputs: list[str] = []
    tree: bool = False
    interactive: bool = False
    engine: str = ""
    theme: str = ""
    keys: str = ""
    config: bool = True
    show: str = ""


def parse(words: list[str]) -> Options:
    """Read the command line. By hand: argparse costs a tenth of the time to the first answer, and cannot stop at FILE."""
    options, rest = Options(), list(words)
    while rest:
        word = rest.pop(0)
        if word[:2] in PROGRAMS and word[2:]:  # -cCODE
            rest.insert(0, word[2:])
            word = word[:2]
        if word in PROGRAMS:
            options.kind, options.program = PROGRAMS[word], value_of(word, rest)
            break
        if word == "-" or not word.startswith("-"):
            options.kind, options.program = ("stdin" if word == "-" else "demo" if word == "demo" else "file"), word
            break
        take_option(word, rest, options)
    options.arguments = rest if options.kind in ("module", "demo") else script_arguments(rest, options)
    if options.engine and options.engine not in ENGINES:
        raise UsageError(f"no engine {options.engine!r}: choose {' or '.join(ENGINES)}")
    return options


def take_option(word: str, rest: list[str], options: Options) -> None:
    name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
    if name in FLAGS and not equals:
        setattr(options, *FLAGS[name])
    elif name in VALUES:
        value = value if equals else value_of(name, rest)
        setattr(options, VALUES[name], [*options.outputs, value] if VALUES[name] == "outputs" else value)
    elif word.startswith("-o"):  # -oFILE
        options.outputs = [*options.outputs, word[2:]]
    else:
        raise UsageError(f"unknown option {word}; gradrepl --help lists them")


def value_of(name: str, rest: list[str]) -> str:
    if not rest:
        raise UsageError(f"{name} needs a value")
    return rest.pop(0)


def script_arguments(rest: list[str], options: Options) -> list[str]:
    """Take -o and --tree out of what follows the program; `--` ends that."""
    kept: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            return kept + rest
        if word in ("-o", "--output", "--tree") or word.startswith("--output="):
            take_option(word, rest, options)
        else:
            kept.append(word)
    return kept


def main(words: list[str] | None = None) -> int:
    """Run the command line and give its exit status. Ctrl-C before there is anything to interrupt just ends it."""
    try:
        return run(words)
    except KeyboardInterrupt:
        return 130


def run(words: list[str] | None) -> int:
    try:
        options = parse(sys.argv[1:] if words is None else words)
    except UsageError as error:
        return complain(str(error), 2)
    if options.show:
        import gradrepl

        print(USAGE, end="") if options.show == "help" else print("gradrepl", gradrepl.__version__)
        return 0
    if options.kind == "demo":
        from gradrepl.repl.demo import play

        return play(options.arguments)
    if options.kind == "shell" and (options.interactive or is_terminal(sys.stdin)):
        from gradrepl.repl.start import interact

        return interact(options)
    if (reason := choose_engine(options.engine)) is not None:
        return complain(reason, 1)
    from gradrepl.repl.scripts import run_program

    return run_program(options)


def choose_engine(name: str) -> str | None:
    """Let `import torch` give the engine that was asked for. Returns the reason where it cannot."""
    if name == "torch":
        from importlib.util import find_spec

        if find_spec("torch") is None:
            return "PyTorch is not installed in this environment: pip install torch, or leave out --engine torch"
        return None
    from gradrepl.embedding import use_embedded_torch

    use_embedded_torch(watch=False)  # what runs decides whether it is watched
    return None


def complain(text: str, status: int) -> int:
    print(f"gradrepl: {text}", file=sys.stderr)
    return status
