"""Watches the embedded engine through its seams. Imports engine, history, places.

Off, it costs nothing. On, an op pays for two frames looked at and a small copy (about 0.5 us), a node in backward about 1 us.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy import ndarray

from gradrepl.engine.names import NAMES, listen, unlisten
from gradrepl.engine.tensor import Tensor, tensor_of
from gradrepl.engine.views import CopySlices
from gradrepl.graphs.observations import looking
from gradrepl.insight import places
from gradrepl.insight.history import HISTORY, NOTABLE, SMALL, WHOLE, Arrival, Pass, Seen, Step, Write, detail_of, tick
from gradrepl.insight.numerals import summarised
from gradrepl.insight.places import here

LARGE = (None,)
PLAIN = (int, float, complex, str, bool, tuple, ndarray)
replaced: dict[str, Any] = {}  # what stood in the place of what watches
PROPERTIES = {"data": "data", "grad": None, "requires_grad": None}  # name -> kind of event when it is read


def start() -> None:
    """Watch from here on; does nothing if it already does."""
    if NAMES["trace"] is not None:
        return
    places.generated = NAMES
    listen("watch", recorded)
    listen("wrote", wrote)
    replaced["unrecorded"] = NAMES["unrecorded"]
    NAMES.update(trace=traced, unrecorded=noticing_unrecorded(NAMES["unrecorded"]))
    for name in (*NOTABLE, *PROPERTIES):
        if (own := Tensor.__dict__.get(name)) is not None:
            replaced[name] = own
            setattr(Tensor, name, noticing_property(name, own, PROPERTIES[name]) if name in PROPERTIES else noticing(name, own))


def stop() -> None:
    """Watch no longer: everything is as it was."""
    if NAMES["trace"] is not traced:
        return
    unlisten("watch", recorded)
    unlisten("wrote", wrote)
    NAMES.update(trace=None, unrecorded=replaced.pop("unrecorded"))
    while replaced:
        setattr(Tensor, *replaced.popitem())


def recorded(node: Any, result: Any) -> None:
    """A node was recorded: keep where, and its values if they are small."""
    if type(result) is tuple:
        values = tuple([x.array.copy() if isinstance(x, Tensor) and x.array.size <= SMALL else None for x in result])
    else:
        array = result.array
        values = (array.copy(),) if array.size <= SMALL else LARGE
    node.sighting = here(2), tick(), values


def seen(node: Any) -> Seen | None:
    """What was kept of a node, if it was recorded under these eyes."""
    kept = getattr(node, "sighting", None)
    return kept and Seen(*kept)


def inner(node: Any) -> str:
    """The op that wrote through a view: its node's name and how much of the base it wrote, "MulBackward0 on (2,) of (4,)"."""
    if not isinstance(node, CopySlices) or node.node is None:
        return ""
    ((whole, _),) = node.output_metas
    return f"{node.node.name()} on {tuple(node.size)} of {tuple(whole)}"


def tensor(array: Any) -> Any:
    return tensor_of(array.copy())


def noticing_unrecorded(unrecorded: Any) -> Any:
    """In no_grad: keep which tensors came out without a graph."""

    @functools.wraps(unrecorded)
    def noticed(result: Any) -> bool:
        answer = unrecorded(result)
        if answer and not NAMES["backward_runs"] and not looking:
            HISTORY.note("no_grad", here(2), None, weakref.ref(result[0] if type(result) is tuple else result))
        return answer

    return noticed


NAMES["backward_runs"] = 0


def noticing(name: str, method: Any) -> Any:
    @functools.wraps(method)
    def noticed(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        if not looking:
            HISTORY.note(name, here(2), weakref.ref(self), weakref.ref(result) if isinstance(result, Tensor) else None, detail_of(args))
        return result

    return noticed


def noticing_property(name: str, old: Any, kind: str | None) -> Any:
    def get(self: Any) -> Any:
        result = old.fget(self)
        if not looking:
            HISTORY.note(kind, here(2), weakref.ref(self), weakref.ref(result))  # type: ignore[arg-type]
        return result

    def put(self: Any, value: Any) -> None:
        old.fset(self, value)
        if not NAMES["backward_runs"] and not looking:
            detail = value if value is None or isinstance(value, bool) else "tensor"
            HISTORY.note(f"set {name}", here(2), weakref.ref(self), None, detail)

    return property(get if kind else old.fget, put, old.fdel, old.__doc__)


def wrote(tensor: Any, node: Any) -> None:
    if NAMES["backward_runs"]:
        return
    counter, origin = tensor.counter, tensor.origin
    source = tensor.node if node is None else node.next_edges[0] and node.next_edges[0][0]
    name = getattr(source, "name", None) if source else None  # a leaf's is None
    source = name() if name else ""
    HISTORY.writes.append(
        Write(counter, counter.version, here(2), tick(), node.name() if node else "", origin is not None, source, len(counter.views))
    )
    base = origin and origin.base.node
    if node is not None and base is not None and seen(base) is None:  # CopySlices: the engine makes it round the node
        base.sighting = here(2), tick(), LARGE


def traced(arrive: Any, step: Any) -> tuple[Any, Any, Any]:
    """A backward begins: visit leaves and nodes through functions that keep what they see."""
    if looking:
        return arrive, step, None
    run: Pass | None = None

    def begin(state: Any = None) -> Pass:
        nonlocal run
        run = HISTORY.begin(here(3), "grad" if state and not state.accumulates else "backward")
        run.read = step_of
        return run

    def at_node(node: Any, grads: Any, state: Any) -> Any:
        into = run or begin(state)
        saved = node.saved_values
        with running(into, node):
            pairs = tuple(step(node, grads, state))
        into.keep(raw_step(node, list(map(array_of, grads)), [array_of(g) for _, g in pairs], saved))
        return pairs

    def glance(node: Any, grads: Any, ends: Any, keep: Any) -> Any:
        into = run or begin()
        saved = node.saved_values
        NAMES["backward_runs"] += 1
        try:
            answers = node.run_arrays(grads, ends, keep)
        except BaseException:
            into.failed = node.sequence_nr, node.name(), seen(node)
            raise
        finally:
            NAMES["backward_runs"] -= 1
        into.keep(raw_step(node, grads, answers, saved))
        return answers

    def at_leaf(leaf: Any, grads: Any, state: Any) -> Any:
        into = run or begin(state)
        before = summary(leaf.extras and leaf.extras.grad)
        NAMES["backward_runs"] += 1
        try:
            answers = arrive(leaf, grads, state)
        finally:
            NAMES["backward_runs"] -= 1
        after = summary(leaf.extras and leaf.extras.grad) if state.accumulates else None
        into.arrivals.append(Arrival(id(leaf), weakref.ref(leaf), summary(grads[0]), before, after, leaf.array.shape))
        return answers

    return at_leaf, at_node, glance


@contextmanager
def running(run: Pass, node: Any) -> Iterator[None]:
    """While a node runs, what it calls is not the program's; if it raises, the pass remembers where."""
    NAMES["backward_runs"] += 1
    try:
        yield
    except BaseException:
        run.failed = node.sequence_nr, node.name(), seen(node)
        raise
    finally:
        NAMES["backward_runs"] -= 1


def summary(tensor: Any) -> Any:
    return None if tensor is None else summarised(array_of(tensor), WHOLE)


def array_of(tensor: Any) -> Any:
    """The array of a tensor; of a batched one, which shows but an outline, that of what it wraps."""
    while tensor is not None and type(tensor.array) is not ndarray:
        tensor = tensor.value
    return None if tensor is None else tensor.array


def raw_step(node: Any, incoming: list, outgoing: list, saved: Any) -> tuple:
    """What a step leaves behind: arrays and numbers. Read later, by step_of."""
    return (
        node.sequence_nr,
        type(node),
        incoming,
        outgoing,
        [array_of(v) if isinstance(v, Tensor) else v if isinstance(v, PLAIN) else bare(v) for v in saved] if saved else (),
        [e and (id(e[0]) if isinstance(e[0], Tensor) else e[0].sequence_nr, e[1]) for e in node.next_edges],
        getattr(node, "sighting", None),
    )


def step_of(raw: tuple) -> Step:
    key, kind, incoming, outgoing, saved, edges, kept = raw
    names = kind.saved_names or [f"saved_tensors[{i}]" for i in range(len(saved))]
    return Step(
        key,
        kind._prefix + kind.__name__,
        tuple(incoming),
        tuple(outgoing) or (None,) * len(edges),
        dict(zip(names, saved)),
        tuple(edges),
        kept and Seen(*kept),
    )


def bare(value: Any) -> Any:
    """What may be kept of a rarer value: the arrays of a list of tensors; nothing of the user's."""
    return [bare(item) for item in value] if isinstance(value, list) else array_of(value) if isinstance(value, Tensor) else None
