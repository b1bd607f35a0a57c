"""Each layer imports only what stands below it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "gradrepl"
# package or module -> what it may import of gradrepl, besides itself
BELOW = {
    "engine": set(),
    "torch": {"engine"},
    "graphs": {"engine", "torch"},
    "render": {"graphs"},
    "insight": {"graphs", "render", "engine", "torch"},
    "repl": {"graphs", "render", "insight", "engine", "torch", "embedding", "cli", "demos"},
    "embedding": set(),
}


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path):
    """The parts of gradrepl that a file imports, at the top or inside a function."""
    package = ("gradrepl", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) + "." if node.level else ""
            module = f"{base}{node.module or ''}".strip(".")
            names = [module] if module != "gradrepl" else [f"gradrepl.{alias.name}" for alias in node.names]
        yield from ((name.split(".")[1], node.lineno) for name in names if name.startswith("gradrepl."))


@pytest.mark.parametrize("layer", BELOW)
def test_no_arrow_points_up(layer):
    files = [path for path in ROOT.rglob("*.py") if layer_of(path) == layer]
    wrong = [f"{path}:{line} imports {name}" for path in files for name, line in imported(path) if name not in BELOW[layer] | {layer}]
    assert not wrong, "\n".join(wrong)
