"""Pasted text becomes the inputs that its author meant."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradrepl.repl.paste import inputs, next_indent, state, wants_more

CLASS = "class A:\n    x = 1\n\n    def f(self):\n        return self.x\n\n\nA().f()"
CASES = {
    "one line": ("x + 1", ["x + 1"]),
    "nothing": ("", []),
    "white": ("  \n \n", []),
    "class with blank lines, then a call": (CLASS, [CLASS]),
    "indented as a whole": ("    if x:\n        y = 1\n\n    y\n", ["if x:\n    y = 1\n\ny"]),
    "indented by tabs": ("\tif x:\n\t\ty = 1", ["if x:\n\ty = 1"]),
    "first line indented alone": ("  x = 1\ny = 2", ["x = 1\ny = 2"]),
    "CRLF": ("x = 1\r\ny = 2\r\n", ["x = 1\ny = 2"]),
    "doctest": (">>> x = 2\n>>> x * 3\n6\n>>> for i in [1]:\n...     i\n...\n", ["x = 2", "x * 3", "for i in [1]:\n    i"]),
    "doctest with a repr of a tensor": (">>> x*2\ntensor([6.], grad_fn=<MulBackward0>)\n>>> y", ["x*2", "y"]),
    "doctest with a traceback": (">>> f()\nTraceback (most recent call last):\n  ...\nError: no\n>>> y", ["f()", "y"]),
    "doctest in a docstring": ("    >>> x\n    1\n    >>> if x:\n    ...     y\n", ["x", "if x:\n    y"]),
    "doctest, wide output": (">>> x\ntensor([[1., 2.],\n        [3., 4.]])\n\n>>> y", ["x", "y"]),
    "prompt inside a string": ('s = """\n>>> x\n... y\n"""', ['s = """\n>>> x\n... y\n"""']),
    "string in a doctest": ('>>> s = """\n... >>> x\n... """', ['s = """\n>>> x\n"""']),
    "Ellipsis first": ("...", ["..."]),
    "IPython": ("In [1]: x = 1\n\nIn [2]: x\nOut[2]: 1\n\nIn [3]: if x:\n   ...:     y\n   ...: ", ["x = 1", "x", "if x:\n    y"]),
    "notebook": ("In [1]:\nimport torch\nx = 1\nOut[1]:\n2\nIn [2]:\nx", ["import torch\nx = 1", "x"]),
    "fence": ("```python\nx = 1\n```\n", ["x = 1"]),
    "two fences": ("```py\nx = 1\n```\nand then\n~~~\ny\n~~~", ["x = 1\ny"]),
    "fenced doctest": ("```pycon\n>>> x\n1\n>>> y\n```", ["x", "y"]),
    "null bytes": ("x = 1\0", ["x = 1"]),
    "indented block with a string at the margin": ('    s = """\n  a\n    b"""\n    s', ['s = """\n  a\n    b"""\ns']),
    "indented block with an f-string": ('    s = f"""\n    {x}\n    b"""\n    s', ['s = f"""\n    {x}\n    b"""\ns']),
    "lone surrogate": ("x = '\udc80'", ["x = '\udc80'"]),
}


@pytest.mark.parametrize("text, expected", CASES.values(), ids=CASES)
def test_inputs(text, expected):
    assert inputs(text) == expected


LINES = [
    "x = 1", "print(x)", "", "if x:\n    y = 2\n\n    z = 3", 's = """\n>>> no\n... no\n"""', "def f(a):\n\treturn a", "t = 'In [1]: x'",
    "[\n1,\n2]", "# a comment", "...",
]  # fmt: skip
PROGRAMS = st.lists(st.sampled_from(LINES), min_size=1, max_size=6)


def wrapped(statements, first, more):
    return "\n".join(f"{first}{statement}".replace("\n", f"\n{more}") for statement in statements)


@settings(deadline=None)
@given(PROGRAMS, st.sampled_from([(">>> ", "... "), ("In [3]: ", "   ...: ")]), st.sampled_from(["", "    ", "\t"]))
def test_a_program_in_prompts_comes_back(statements, prompts, indent):
    text = wrapped(statements, *prompts)
    expected = [s for s in statements if s.strip()]
    assert inputs("\n".join(indent + line for line in text.split("\n"))) == expected


@settings(deadline=None)
@given(PROGRAMS)
def test_a_program_without_prompts_is_unchanged(statements):
    text = "\n".join(statements).strip("\n")
    if text and not text[0].isspace():
        assert ast.dump(ast.parse(inputs(text)[0])) == ast.dump(ast.parse(text))


@settings(deadline=None)
@given(st.text())
def test_no_text_crashes(text):
    for piece in inputs(text):
        state(piece)
    wants_more(text)
    next_indent(text)


@pytest.mark.parametrize(
    "text, more",
    [
        ("x", False), ("x = (1,", True), ("if x:", True), ("if x:\n    y", True), ("if x:\n    y\n", False), ("if x:\n    y\n    ", False),
        ("s = '''", True), ("x = = 1", False), ("@f", True), ("for i in x: print(i)", False), ("x = 1 \\", True), ("", False),
        (">>> if x:\n...     y", False), ("class A:\n    x = 1\n\n    def f(self):", True), ("for i in x:\n    y\nz", False),
        ("x = [\n", True), ("try:\n    x", True),
    ],
)  # fmt: skip
def test_enter(text, more):
    assert wants_more(text) is more


def test_a_recalled_block_runs_at_once():
    assert not wants_more("def f():\n    return 1", at_once=True)
    assert wants_more("def f():", at_once=True)


@pytest.mark.parametrize(
    "text, indent",
    [("if x:", "    "), ("    if x:", "        "), ("    return x", ""), ("    x = 1", "    "), ("# note:", "")],
)
def test_indent_of_the_next_line(text, indent):
    assert next_indent(text) == indent
