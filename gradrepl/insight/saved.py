"""saved(y): what a graph keeps in memory for backward, by node and by size, shared storage counted once. Imports graphs, observer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from gradrepl.graphs import capture
from gradrepl.graphs.model import Graph, Node
from gradrepl.graphs.protocol import is_tensor, node_type
from gradrepl.insight.numerals import counted
from gradrepl.insight.observer import engine_of

MOST_ROWS = 100  # that are printed, the largest first


@dataclass(frozen=True)
class Kept:
    """One tensor that a node keeps."""

    node: Node
    slots: tuple[str, ...]
    shape: tuple[int, ...] | None
    dtype: str
    bytes: int  # of the storage that it lies in
    counted: bool  # False: this storage was counted at an earlier node
    names: tuple[str, ...]  # variables that keep it alive as well
    state: str = "held"  # or "freed", "packed"


@dataclass(frozen=True)
class Memory:
    """What is kept, the largest first."""

    graph: Graph
    kept: tuple[Kept, ...]

    @property
    def bytes(self) -> int:
        """What the graph holds in all, each storage once."""
        return sum(k.bytes for k in self.kept if k.counted)

    @property
    def only_graph(self) -> int:
        """What would be free if the graph were gone: no variable of the program holds it."""
        return sum(k.bytes for k in self.kept if k.counted and not k.names)

    @property
    def freed(self) -> int:
        return sum(k.state == "freed" for k in self.kept)

    def __str__(self) -> str:
        held = [k for k in self.kept if k.state != "freed"]
        holders = counted(len({k.node.id for k in held}), "node")
        lines = [f"{size(self.bytes)} held for backward by {holders}, {size(self.only_graph)} by the graph alone"]
        rows = [line_of(k) for k in held[:MOST_ROWS]]
        widths = [max(len(row[column]) for row in rows) for column in range(4)] if rows else []
        lines += ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0))).rstrip() for row in rows]
        if len(held) > MOST_ROWS:
            lines.append(f"  … {len(held) - MOST_ROWS} more; .kept has them all")
        if self.freed:
            lines.append(f"  {counted(self.freed, 'tensor was', 'tensors were')} freed by backward()")
        return "\n".join(lines)

    __repr__ = __str__

    def __rich__(self) -> Any:
        from rich.table import Table

        table = Table(title=str(self).split("\n")[0], title_justify="left", box=None, pad_edge=False)
        for heading, justify in (("bytes", "right"), ("node", "left"), ("slots", "left"), ("shape", "left"), ("kept alive by", "left")):
            table.add_column(heading, justify=justify)  # type: ignore[arg-type]
        for k in self.kept[:MOST_ROWS]:
            table.add_row(*line_of(k))
        if len(self.kept) > MOST_ROWS:
            table.add_row("…", f"{len(self.kept) - MOST_ROWS} more; .kept has them all", "", "", "")
        return table


def line_of(k: Kept) -> tuple[str, str, str, str, str]:
    if k.state == "freed":
        return "freed", f"{k.node.name} {k.node.id}", ", ".join(k.slots), "", ""
    amount = size(k.bytes) if k.counted else "shared"
    alive = f"also {', '.join(k.names)}" if k.names else "the graph alone"
    shape = f"{k.shape or '()'} {k.dtype}" if k.shape is not None else k.state
    return amount, f"{k.node.name} {k.node.id}", ", ".join(k.slots), shape, alive


def size(bytes: int) -> str:
    """An amount of memory: 512 B, 1.5 kB, 3.2 MB."""
    for unit in ("B", "kB", "MB"):
        if bytes < 1000:
            return f"{bytes:.3g} {unit}"
        bytes /= 1000  # type: ignore[assignment]
    return f"{bytes:.3g} GB"


def saved(y: Any, *, names: Any = None) -> Memory:
    """Tell what the graph of `y` keeps in memory for backward: by node, the largest first, what lies in one storage counted once.

    Tensors behind pack hooks are listed without being unpacked.

    >>> from gradrepl import torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> saved((x * 2).exp().sin(), names={"x": x}).bytes
    4008
    """
    captured = capture(y, names=names, _frame=sys._getframe(1), saved=True, values=False)
    entries = []
    names_of: dict = {}  # storage -> the variables that hold it
    for node in sorted(captured.graph.nodes, key=lambda n: n.sequence):
        for entry in node.saved:
            tensor = held_tensor(captured.functions[node.id], entry.slots[0]) if entry.state == "held" else None
            key, amount = storage_of(tensor) if tensor is not None else (None, entry.bytes or 0)
            entries.append((node, entry, key, amount))
            names_of[key] = names_of.get(key, ()) + tuple(name for name in entry.names if name not in names_of.get(key, ()))
    seen: set = {None}
    kept = []
    for node, entry, key, amount in entries:
        names = names_of[key] if key is not None else entry.names
        kept.append(Kept(node, entry.slots, entry.shape, entry.dtype, amount, key not in seen, names, entry.state))
        seen.add(key)
    return Memory(captured.graph, tuple(sorted(kept, key=lambda k: (k.state == "freed", not k.counted, -k.bytes))))


def held_tensor(function: Any, slot: str) -> Any:
    """The tensor in a slot: `self`, `tensors[1]`, or the number of one that a custom Function saved."""
    name, _, index = slot.partition("[")
    try:
        held = function.saved_tensors if node_type(function).kind == "custom" else getattr(function, f"_saved_{name}")
    except (RuntimeError, AttributeError):  # written since, or not to be read
        return None
    if isinstance(held, (tuple, list)):
        place = int(index.rstrip("]")) if index else int(name) if name.isdigit() else 0
        held = held[place] if place < len(held) else None
    return held if is_tensor(held) else None


def storage_of(tensor: Any) -> tuple[Any, int]:
    """Which storage a tensor lies in, and how large that is."""
    if engine_of(tensor) == "embedded":
        array = tensor.array
        while getattr(array.base, "nbytes", None) is not None and hasattr(array.base, "__array_interface__"):
            array = array.base
        return array.__array_interface__["data"][0], array.nbytes
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()
