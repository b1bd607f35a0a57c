"""`%load_ext gradrepl` in IPython and Jupyter: the functions in the namespace, %tree and %graph. Imports IPython only from there."""

import sys
from typing import Any

from gradrepl.repl.namespace import FUNCTIONS


def load_ipython_extension(shell: Any) -> None:
    """Put the functions into the namespace and register %tree and %graph; without PyTorch `import torch` gives the embedded engine."""
    import gradrepl

    use_present_torch()
    shell.push({name: getattr(gradrepl, name) for name in FUNCTIONS}, interactive=False)
    shell.register_magic_function(lambda line: tree(shell, line), "line", "tree")
    shell.register_magic_function(lambda line: graph(shell, line), "line", "graph")


def unload_ipython_extension(shell: Any) -> None:
    """Take the functions and the magics away again; a name that the user has given a value of his own stays."""
    import gradrepl

    shell.drop_by_id({name: getattr(gradrepl, name) for name in FUNCTIONS})
    for name in ("tree", "graph"):
        shell.magics_manager.magics["line"].pop(name, None)


def use_present_torch() -> None:
    """Keep the torch that is imported or installed; where there is none, let `import torch` find the embedded engine."""
    from importlib.util import find_spec

    from gradrepl.embedding import use_embedded_torch

    if "torch" not in sys.modules and find_spec("torch") is None:
        use_embedded_torch()


def tree(shell: Any, line: str) -> None:
    """%tree y: the graph under y as a tree."""
    import gradrepl
    from gradrepl.repl.printer import draw

    draw(gradrepl.tree(value_of(shell, line), names=shell.user_ns), sys.stdout)


def graph(shell: Any, line: str) -> Any:
    """%graph y [FILE]: the graph under y as a picture, and into a file if one is named."""
    import gradrepl

    expression, _, path = line.strip().rpartition(" ")
    if not expression or "." not in path or path.endswith((")", "]")):
        expression, path = line, ""
    drawn = gradrepl.graph(value_of(shell, expression), names=shell.user_ns)
    if path:
        drawn.save(path)
    return drawn


def value_of(shell: Any, expression: str) -> Any:
    return eval(expression.strip() or "_", shell.user_global_ns, shell.user_ns)
