"""Turns typed or pasted text into inputs: takes off prompts, old outputs, fences and a common indent. Pure functions, standard library."""

import codeop
import io
import re
import tokenize
from collections.abc import Iterator

DOCTEST = re.compile(r">>>(?: |$)")
DOCTEST_MORE = re.compile(r"\.\.\.(?: |$)")
CELL = re.compile(r"In \[\d*\]:(?: |$)")
CELL_MORE = re.compile(r" *\.{3,}:(?: |$)")
CELL_OUTPUT = re.compile(r"Out\[\d*\]:")
FENCE = re.compile(r"(`{3,}|~{3,})[^`]*$")


def inputs(text: str) -> list[str]:
    """The pieces of source in the text, to be run one after the other; one piece unless the text is a transcript.

    >>> inputs(">>> x = 2\\n>>> x * 3\\n6\\n")
    ['x = 2', 'x * 3']
    >>> inputs("    if x:\\n        y\\n")
    ['if x:\\n    y']
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    text = unfenced(text.strip("\n") if text.strip() else "")
    lines = text.split("\n")
    indent = indent_of(lines[0])
    if DOCTEST.match(lines[0], len(indent)):
        return examples([outdented(line, indent) for line in lines])
    if CELL.match(lines[0], len(indent)):
        return cells([outdented(line, indent) for line in lines])
    return [dedented(text).rstrip("\n ")] if text.strip() else []


def is_transcript(text: str) -> bool:
    """Whether the text starts with a prompt or a fence, and so is a paste that is run as a whole."""
    line = text.lstrip().partition("\n")[0].rstrip()
    return any(pattern.match(line) for pattern in (DOCTEST, CELL, FENCE))


def examples(lines: list[str]) -> list[str]:
    """The examples of a doctest: what stands after `>>> `, with the lines after `... `; all other lines are old outputs."""
    pieces: list[list[str]] = []
    inside = False
    for line in lines:
        if prompt := DOCTEST.match(line):
            pieces.append([line[prompt.end() :]])
            inside = True
        elif inside and (prompt := DOCTEST_MORE.match(line)):
            pieces[-1].append(line[prompt.end() :])
        else:
            inside = False
    return joined(pieces)


def cells(lines: list[str]) -> list[str]:
    """The inputs of an IPython session; in a copied notebook the code stands below a bare `In [1]:`, without prompts."""
    pieces: list[list[str]] = []
    inside = bare = False
    for line in lines:
        if prompt := CELL.match(line):
            pieces.append([line[prompt.end() :]])
            inside, bare = True, not line[prompt.end() :].strip()
        elif CELL_OUTPUT.match(line):
            inside = False
        elif inside and (prompt := CELL_MORE.match(line)):
            pieces[-1].append(line[prompt.end() :])
        elif inside and bare:
            pieces[-1].append(line)
        else:
            inside = False
    return joined(pieces)


def joined(pieces: list[list[str]]) -> list[str]:
    texts = ["\n".join(piece).strip("\n") for piece in pieces]
    return [text.rstrip("\n ") for text in texts if text.strip()]


def unfenced(text: str) -> str:
    """The code between the fences of a Markdown text that begins with one."""
    lines = text.split("\n")
    if not FENCE.match(lines[0].strip()):
        return text
    kept: list[str] = []
    closing = ""
    for line in lines:
        fence = FENCE.match(line.strip())
        if closing and line.strip() == closing:
            closing = ""
        elif not closing and fence:
            closing = fence[1]
        elif closing:
            kept.append(line)
    return "\n".join(kept).strip("\n")


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def outdented(line: str, indent: str) -> str:
    """The line without the indent, or without as much of its beginning as is white."""
    return line[len(indent) :] if line.startswith(indent) else line.lstrip()


def dedented(text: str) -> str:
    """The text without the indent of its first line; lines that continue a string keep every character."""
    lines = text.split("\n")
    indent = indent_of(lines[0])
    if not indent:
        return text
    inside = set(lines_inside_strings(text))
    return "\n".join(line if number in inside else outdented(line, indent) for number, line in enumerate(lines))


def lines_inside_strings(text: str) -> Iterator[int]:
    """The numbers, from 0, of the lines that begin inside a string."""
    opened: list[int] = []
    starts = {getattr(tokenize, name, None) for name in ("FSTRING_START", "TSTRING_START")} - {None}
    ends = {getattr(tokenize, name, None) for name in ("FSTRING_END", "TSTRING_END")} - {None}
    for token in tokens_of(f"if 1:\n{text}\n"):
        if token.type in starts:
            opened.append(token.start[0])
        elif token.type in ends and opened:
            yield from range(opened.pop() - 1, token.end[0] - 1)
        elif token.type == tokenize.STRING:
            yield from range(token.start[0] - 1, token.end[0] - 1)


def tokens_of(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text up to where it stops being Python."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def state(text: str) -> str:
    """`complete`, `incomplete` (more lines are needed) or `invalid` (running it shows the error)."""
    try:
        return "complete" if codeop.compile_command(text, symbol="exec") else "incomplete"
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
        return "invalid"


def wants_more(text: str, *, at_once: bool = False) -> bool:
    """Whether Enter after this text starts a new line instead of running it.

    An open bracket, string or block wants more; an empty line closes a block, and it is closed `at_once` where the text came as a whole.
    """
    pieces = inputs(text)
    if not pieces or is_transcript(text):
        return False
    code = pieces[0]
    if state(code) != "complete":
        return state(code) == "incomplete"
    last = text.rstrip(" \t").rpartition("\n")[2]
    return not at_once and in_block(code) and bool(last.strip())


def in_block(code: str) -> bool:
    """Whether the last line belongs to an indented block, or to a one-line compound statement that an `else` could follow."""
    last = code.rpartition("\n")[2]
    return last[:1].isspace() or "\n" in code and last.startswith("@")


def next_indent(text: str) -> str:
    """The white space that the line after this one starts with."""
    line = text.rpartition("\n")[2]
    indent, stripped = indent_of(line), line.strip()
    if stripped.endswith(":") and not stripped.startswith("#"):
        return indent + "    "
    if re.match(r"(return|pass|break|continue|raise)\b", stripped):
        return indent[:-4]
    return indent
