"""The colours of the shell, for dark and for light grounds. Imports prompt_toolkit's styles only when asked for one."""

import os

# role -> colour, by theme. `auto` keeps to the terminal's own palette, which its owner has chosen to be readable.
THEMES = {
    "auto": dict(prompt="ansigreen", keyword="ansiblue", name="ansicyan", string="ansigreen", number="ansimagenta",
                 comment="ansibrightblack", error="ansired", hint="ansibrightblack", bar="reverse"),
    "dark": dict(prompt="#3fc79a", keyword="#79b8ff", name="#b392f0", string="#9ecb8c", number="#e0a56b", comment="#8b949e",
                 error="#ff8f7a", hint="#6e7681", bar="bg:#21262d #c9d1d9"),
    "light": dict(prompt="#0b7a53", keyword="#0a58b5", name="#6f42c1", string="#22703a", number="#9a4b00", comment="#6a737d",
                  error="#b3261e", hint="#8c959f", bar="bg:#eaeef2 #24292f"),
}  # fmt: skip
PYGMENTS = {
    "keyword": "keyword", "keyword.constant": "number", "operator.word": "keyword", "name.builtin": "name", "name.function": "name",
    "name.class": "name", "name.decorator": "name", "literal.string": "string", "literal.number": "number", "comment": "comment",
    "name.exception": "error",
}  # fmt: skip


def theme_colours(theme: str) -> dict[str, str] | None:
    """The colours of a theme; `auto` asks the terminal's own variable for its ground first."""
    if theme == "auto" and (ground := os.environ.get("COLORFGBG", "").rpartition(";")[2]).isdigit():
        theme = "light" if int(ground) in (7, 15) else "dark"
    return THEMES.get(theme)


def prompt_style(theme: str):
    from prompt_toolkit.styles import Style

    colours = theme_colours(theme)
    if colours is None:
        return Style([("bottom-toolbar", "noreverse"), ("auto-suggestion", "")])
    rules = [(f"pygments.{token}", colours[role]) for token, role in PYGMENTS.items()]
    rules += [("prompt", f"bold {colours['prompt']}"), ("auto-suggestion", colours["hint"])]
    return Style([*rules, ("bottom-toolbar", f"noreverse {colours['bar']}")])


ANSI = {"ansired": 31, "ansigreen": 32, "ansiblue": 34, "ansimagenta": 35, "ansicyan": 36, "ansibrightblack": 90}


def painted(text: str, theme: str, role: str) -> str:
    """The text between the escape codes of a role's colour; as it is where the theme has none."""
    colour = (theme_colours(theme) or {}).get(role, "")
    if colour.startswith("#"):
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"\x1b[38;2;{red};{green};{blue}m{text}\x1b[0m"
    return f"\x1b[{ANSI[colour]}m{text}\x1b[0m" if colour in ANSI else text
