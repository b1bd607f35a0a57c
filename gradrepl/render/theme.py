"""Colours, light and dark, and the words of the legend. Imports nothing of the project."""

from __future__ import annotations

from typing import NamedTuple

STROKES = {
    "root": "#139C6E",
    "op": "#6E7781",
    "custom": "#B02399",
    "leaf": "#2082E5",
    "constant": "#8C8C8C",
    "saved": "#C28B17",
    "warning": "#9E4F34",
}
FONT = "Helvetica"


class Theme(NamedTuple):
    """The colours of one picture. Strokes are the same in both: each has a contrast of 3:1 to either ground."""

    name: str
    ground: str
    text: str
    dim: str  # second lines
    line: str  # arrows
    strength: float  # of a fill: how much of the stroke's colour it holds

    def fill(self, role: str) -> str:
        return mix(STROKES[role], self.ground, self.strength)


LIGHT = Theme("light", "#FFFFFF", "#1A1A1A", "#57606A", "#6E7780", 0.18)
DARK = Theme("dark", "#0D1117", "#E6EDF3", "#9DA7B3", "#808890", 0.28)
THEMES = {"light": LIGHT, "dark": DARK, "auto": LIGHT}


def mix(one: str, two: str, share: float) -> str:
    """Return the colour that holds `share` of `one`, the rest being `two`."""
    parts = (round(int(one[i : i + 2], 16) * share + int(two[i : i + 2], 16) * (1 - share)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02X}" for part in parts)


def dark_rules(scope: str = "") -> str:
    """CSS that gives a picture drawn in light colours the dark ones; `scope` stands before each selector."""
    pairs = {LIGHT.fill(role): DARK.fill(role) for role in STROKES}
    pairs |= {getattr(LIGHT, part): getattr(DARK, part) for part in ("ground", "text", "dim", "line")}
    rules = [
        f'{scope}[{attribute}="{light.lower()}"]{{{attribute}:{dark.lower()}}}'
        for light, dark in pairs.items()
        for attribute in ("fill", "stroke")
    ]
    return "".join(rules)


# role -> (what the legend calls it, style of its border)
LEGEND = {
    "root": ("what you asked for", "solid"),
    "op": ("op", "solid"),
    "custom": ("your Function", "solid"),
    "leaf": ("leaf", "double"),
    "alias": ("shared leaf, again", "dashed"),
    "constant": ("constant", "dashed"),
    "saved": ("saved for backward", "solid"),
    "inplace": ("write through a view", "solid"),
    "cut": ("cut", "dashed"),
    "fault": ("something is wrong", "solid"),
    "fold": ("repeats, folded", "double"),
    "omitted": ("left out", "dashed"),
}
ROLES = {"alias": "leaf", "inplace": "warning", "cut": "warning", "fault": "warning", "fold": "op", "omitted": "op"}


def role_of(kind: str) -> str:
    """Return whose colour a kind of card has."""
    return ROLES.get(kind, kind)
