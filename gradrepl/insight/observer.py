"""Turns watching on, for whichever engine `torch` is, and answers for it. Imports history, places, graphs; observers when needed."""

from __future__ import annotations

import sys
from types import CodeType, ModuleType
from typing import Any

from gradrepl.graphs import observations
from gradrepl.graphs.model import Cut, Source
from gradrepl.insight.history import HISTORY, Seen
from gradrepl.insight.places import Place, once_per_place

CUTS = {"detach": "detach()", "data": ".data", "no_grad": "under no_grad"}


def engine_of(thing: Any) -> str:
    """Whose tensor or node this is: "embedded" or "torch"."""
    engine = sys.modules.get("gradrepl.engine.tensor")
    node = sys.modules.get("gradrepl.engine.node")
    own = tuple(kind for kind in (engine and engine.Tensor, node and node.Node) if kind)
    return "embedded" if isinstance(thing, own) else "torch"


def observer(engine: str) -> ModuleType | None:
    """The module that watches an engine, unless that engine is not even here."""
    found = sys.modules.get(f"gradrepl.insight.observe_{engine}")  # an import statement takes a microsecond, for each of many nodes
    if found is not None:
        return found
    if engine == "embedded":
        from gradrepl.insight import observe_embedded

        return observe_embedded
    torch = sys.modules.get("torch")
    if torch is None or torch.__name__ != "torch" or not hasattr(torch, "_C") or not hasattr(torch._C, "_add_docstr"):
        return None
    from gradrepl.insight import observe_torch

    return observe_torch


def observe(engine: str = "") -> None:
    """Watch the program from here on: the lines that ran, what was cut, written and sent backward.

    `engine` is "embedded" or "torch"; without it, the one that `import torch` gives.
    """
    for witness, kept in ((node_seen, observations.node_witnesses), (cut_seen, observations.cut_witnesses)):
        if witness not in kept:
            kept.append(witness)  # type: ignore[arg-type]
    torch = sys.modules.get("torch")
    own = torch is None or torch is sys.modules.get("gradrepl.torch")
    if torch is None and not engine and not any(isinstance(finder, ComingTorch) for finder in sys.meta_path):
        sys.meta_path.insert(0, ComingTorch())
    found = observer(engine or ("embedded" if own else "torch"))
    if found is not None:
        found.start()


class ComingTorch:
    """Has PyTorch watched as soon as it is imported, if that happens after the first question was."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = find_spec(name)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "get_filename"):
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                if "gradrepl.insight.observe_torch" not in sys.modules:  # which, if it is what imports torch, is started by its importer
                    observe()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def stop() -> None:
    """Watch no engine any longer, and forget what was seen."""
    for engine in ("embedded", "torch"):
        found = observer(engine) if engine == "torch" or "gradrepl.engine.tensor" in sys.modules else None
        if found is not None:
            found.stop()
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, ComingTorch)]
    HISTORY.clear()


def seen(node: Any) -> Seen | None:
    """What was kept of a node when it was recorded."""
    watching = observer(engine_of(node))
    return watching.seen(node) if watching and node is not None else None


@once_per_place
def source_at(code: CodeType, instruction: int) -> Source:
    place = Place(code, instruction)
    return Source(place.filename, place.line, place.text)


def source_of(place: Place) -> Source:
    return source_at(*place)


def node_seen(node: Any) -> observations.Observation | None:
    watching: Any = observer(engine_of(node))
    kept = watching and watching.seen(node)
    if kept is None:
        return None
    inner = watching.inner(node) if hasattr(watching, "inner") else ""
    values = lambda: tuple([None if value is None else watching.tensor(value) for value in kept.values])
    return observations.Observation(source_at(*kept.place), values, inner=inner)


def cut_seen(tensor: Any) -> Cut | None:
    for event in reversed(HISTORY.events):
        if event.kind in CUTS and event.made is tensor:
            return Cut(CUTS[event.kind], source_of(event.where))
    return None
