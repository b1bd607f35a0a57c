"""What was seen of a program: its notable calls, its writes, its backward passes. Plain data, the same for both engines.

Imports places only. An observer (observe_embedded, observe_torch) fills it; it keeps arrays and weak references, never a tensor, so
that watching a program does not change what lives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from numpy import ndarray

from gradrepl.insight.places import Place

SMALL = 64  # elements: values of this size are copied when an op runs
WHOLE = 4096  # elements: gradients of leaves are kept up to this size, and summarised beyond
MOST_BYTES = 64 << 20  # of gradients and saved values that one pass may hold on to
MOST_STEPS = 20_000
# methods after which a tensor has lost its history, or that change what backward does
NOTABLE = (
    "detach", "detach_", "numpy", "item", "tolist", "requires_grad_", "retain_grad", "register_hook", "__float__", "__int__", "__array__",
)  # fmt: skip
RECENT = 8  # passes whose steps are kept; more would give the garbage collector too much to look at

tick = count(1).__next__


class Seen(NamedTuple):
    """What is kept of a recorded op, with its node."""

    place: tuple
    tick: int
    values: tuple  # one small array per output; None where it is larger

    @property
    def where(self) -> Place:
        return Place(*self.place)


class Event(NamedTuple):
    """A call that matters to autograd: detach, numpy, backward, zero_grad, …"""

    kind: str
    place: tuple
    tick: int
    subject: Any  # weak reference to the tensor
    result: Any = None  # weak reference to the tensor that came out
    detail: Any = None

    @property
    def where(self) -> Place:
        return Place(*self.place)

    @property
    def tensor(self) -> Any:
        return self.subject and self.subject()

    @property
    def made(self) -> Any:
        return self.result and self.result()


class Write(NamedTuple):
    """A write in place: which storage (by a key of the engine), its version afterwards, and where."""

    storage: Any
    version: int
    place: tuple
    tick: int
    node: str  # what was recorded, if anything
    view: bool
    source: str  # the name of the node that made the written tensor
    others: int  # live views of the same storage

    @property
    def where(self) -> Place:
        return Place(*self.place)


class Step(NamedTuple):
    """One node's turn in a backward pass, in arrays."""

    key: int  # the node's sequence number
    name: str
    incoming: tuple
    outgoing: tuple
    saved: dict
    edges: tuple  # (key of the next node or leaf, output number) or None
    seen: Seen | None

    @property
    def where(self) -> Place | None:
        return self.seen and self.seen.where


class Arrival(NamedTuple):
    """A gradient that reached a leaf."""

    key: int
    leaf: Any  # weak reference
    incoming: Any
    before: Any  # .grad before: None, or an array if small
    after: Any
    shape: tuple


class Pass:
    """One backward: its steps in the order they ran."""

    def __init__(self, place: tuple, kind: str):
        self.place, self.kind, self.tick = place, kind, tick()
        self.raw: list = []  # steps as the observer keeps them: quick to append
        self.read: Callable[[Any], Step] = lambda step: step
        self.finished: list[Step] = []
        self.arrivals: list[Arrival] = []
        self.bytes = 0
        self.failed: tuple[int, str, Seen | None] | None = None  # key and name of the node that raised

    @property
    def where(self) -> Place:
        return Place(*self.place)

    @property
    def steps(self) -> list[Step]:
        """The nodes in the order in which they ran."""
        if len(self.finished) != len(self.raw):
            self.finished = [self.read(step) for step in self.raw]
        return self.finished

    def forget(self) -> None:
        """Let go of everything but what reached the leaves."""
        self.raw, self.finished = [], []

    def keep(self, raw: tuple) -> None:
        """Append a step (key, kind, incoming, outgoing, saved, …), unless the pass holds too much already."""
        if self.bytes < MOST_BYTES and len(self.raw) < MOST_STEPS:
            for array in (*raw[2], *raw[4]):  # what goes out comes in at the next step
                if type(array) is ndarray:
                    self.bytes += array.nbytes
            self.raw.append(raw)

    def kept(self, array: Any) -> Any:
        """The array, unless the pass holds too much already."""
        if array is None or not hasattr(array, "nbytes"):
            return array
        self.bytes += array.nbytes
        return array if self.bytes <= MOST_BYTES else None


class History:
    """Everything that was seen, the oldest forgotten first."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=4000)
        self.writes: deque[Write] = deque(maxlen=4000)
        self.passes: deque[Pass] = deque(maxlen=200)

    @property
    def now(self) -> int:
        return tick()

    def rewind(self, since: int) -> None:
        """Forget what was seen since then: it was a question that ran, not the program."""
        for seen in (self.events, self.writes, self.passes):
            while seen and seen[-1].tick > since:  # type: ignore[index]
                seen.pop()  # type: ignore[attr-defined]

    def clear(self) -> None:
        for seen in (self.events, self.writes, self.passes):
            seen.clear()  # type: ignore[attr-defined]

    def begin(self, place: tuple, kind: str) -> Pass:
        """A new pass; of those before the last, large ones keep only what reached the leaves."""
        if len(self.passes) > 1 and self.passes[-2].bytes > MOST_BYTES // 256:
            self.passes[-2].forget()
        if len(self.passes) > RECENT:
            self.passes[-RECENT].forget()
        self.passes.append(Pass(place, kind))
        return self.passes[-1]

    def note(self, kind: str, place: tuple, subject: Any = None, result: Any = None, detail: Any = None) -> None:
        self.events.append(Event(kind, place, tick(), subject, result, detail))


def detail_of(arguments: tuple) -> Any:
    """What is worth keeping of a call's arguments: a flag, or the code of a hook; nothing that keeps the user's objects alive."""
    first = arguments[0] if arguments else None
    return first if isinstance(first, bool) else getattr(first, "__code__", None)


HISTORY = History()
