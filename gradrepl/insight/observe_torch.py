"""Watches an installed PyTorch through its public means: a function mode, hooks and metadata of nodes. Imports history, places, graphs."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from gradrepl.graphs.observations import looking
from gradrepl.graphs.protocol import node_type
from gradrepl.insight.history import HISTORY, MOST_STEPS, NOTABLE, SMALL, WHOLE, Arrival, Pass, Seen, Step, Write, detail_of, tick
from gradrepl.insight.numerals import summarised
from gradrepl.insight.places import here

KEY = "gradrepl"  # in a node's metadata
KINDS = {*NOTABLE, "get data", "set data", "set grad", "set requires_grad"}
NOT_WRITES = {"requires_grad_", "detach_", "share_memory_", "rename_", "_set_grad_enabled"}


def name_of(function: Any) -> str:
    """`mul` for a function or method, `get data` and `set data` for a property."""
    name = getattr(function, "__name__", "")
    if name in ("__get__", "__set__"):
        return f"{name.strip('_')} {getattr(function.__self__, '__name__', '')}"
    return name


class Watcher(TorchFunctionMode):
    """Sees every call of a torch function and changes nothing."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if looking:
            return function(*args, **kwargs)
        name = name_of(function)
        if name in ("backward", "grad"):
            return self.pass_back(name, function, args, kwargs)
        target = written_by(name, args, kwargs)
        before = [(t, t.grad_fn) for t in target]
        result = function(*args, **kwargs)
        place = here(2)
        self.saw_call(name, place, args, result)
        for written, node in before:
            saw_write(written, node, place)
            saw_result(written, place)
        return result

    def pass_back(self, name: str, function: Any, args: Any, kwargs: Any) -> Any:
        run = HISTORY.begin(here(3), name)
        RUNNING.append(run)
        try:
            return function(*args, **kwargs)
        finally:
            RUNNING.pop()

    def saw_call(self, name: str, place: Any, args: Any, result: Any) -> None:
        if name in KINDS:
            subject = weakref.ref(args[0]) if args and isinstance(args[0], torch.Tensor) else None
            made = weakref.ref(result) if isinstance(result, torch.Tensor) else None
            detail = detail_of(args[1:])
            if name.startswith("set "):
                detail = args[1] if args[1] is None or isinstance(args[1], bool) else "tensor"
            HISTORY.note(name.removeprefix("get "), place, subject, made, detail)
        if name.startswith(("get ", "set ")):
            return
        for output in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(output, torch.Tensor):
                saw_result(output, place)


RUNNING: list[Pass] = []
WATCHER = Watcher()


def start() -> None:
    """Watch from here on, in this thread; does nothing if it already does."""
    if not getattr(WATCHER, "on", False):
        WATCHER.on = True  # type: ignore[attr-defined]
        WATCHER.__enter__()


def stop() -> None:
    """Watch no longer."""
    if getattr(WATCHER, "on", False):
        WATCHER.on = False  # type: ignore[attr-defined]
        WATCHER.__exit__(None, None, None)


def seen(node: Any) -> Seen | None:
    """What was kept of a node, if it was recorded under these eyes."""
    kept = node.metadata.get(KEY)
    return kept if isinstance(kept, Seen) else None


def tensor(array: Any) -> Any:
    return torch.from_numpy(array.copy())


def written_by(name: str, args: Any, kwargs: Any) -> list:
    """The tensors that a call writes in place."""
    if "out" in kwargs:
        return [kwargs["out"]] if isinstance(kwargs["out"], torch.Tensor) else []
    in_place = name == "__setitem__" or name.endswith("_") and not name.startswith("__") and name not in NOT_WRITES
    if not in_place or not args:
        return []
    several = args[0] if isinstance(args[0], (list, tuple)) else args[:1]
    return [t for t in several if isinstance(t, torch.Tensor) and not t.is_inference()]


def saw_write(tensor: Any, before: Any, place: Any) -> None:
    now = tensor.grad_fn
    node = now.name() if now is not before and now is not None else ""
    HISTORY.writes.append(
        Write(
            tensor.untyped_storage().data_ptr(), tensor._version, place, tick(), node, tensor._is_view(), before.name() if before else "", 0
        )
    )


def saw_result(tensor: Any, place: Any) -> None:
    """Mark the nodes that this call made, with hooks that see them run; a call like cross_entropy makes several."""
    if tensor.grad_fn is None:
        if not torch.is_grad_enabled() and not tensor.requires_grad:
            HISTORY.note("no_grad", place, None, weakref.ref(tensor))
        return
    value = array_of(tensor) if tensor.numel() <= SMALL else None
    stack = [(tensor.grad_fn, (value,))]
    while stack:
        node, values = stack.pop()
        if node is None or KEY in node.metadata:
            continue
        if hasattr(node, "variable"):
            watch_leaf(node)
            continue
        seen = node.metadata[KEY] = Seen(place, tick(), values)
        node.register_hook(seer(node, seen))
        stack += [(below, (None,)) for below, _ in node.next_functions]


def edge_keys(node: Any) -> tuple:
    return tuple(
        below and ((id(below.variable) if hasattr(below, "variable") else below._sequence_nr()), number)
        for below, number in node.next_functions
    )


def seer(node: Any, seen: Seen) -> Any:
    """A hook that keeps what went through a node. It must not hold the node: that would be a cycle."""
    key, name, edges = node._sequence_nr(), node.name(), edge_keys(node)

    def see(outgoing: Any, incoming: Any) -> None:
        if looking:
            return
        run = running()
        if len(run.raw) < MOST_STEPS:
            into, out = (tuple([run.kept(array_of(g)) for g in grads]) for grads in (incoming, outgoing))
            run.raw.append(Step(key, name, into, out, saved_of(run), edges, seen))

    return see


def saved_of(run: Pass) -> dict:
    """What the node that runs now has saved, as arrays."""
    current = getattr(torch._C, "_current_autograd_node", lambda: None)()
    found = {}
    if current is not None:
        kind = node_type(current)
        for name in (*kind.plain, *(name for name, _, _ in kind.tensors)):
            try:
                value = getattr(current, name)
            except RuntimeError:  # freed, or changed since
                continue
            found[name.removeprefix("_saved_")] = run.kept(array_of(value)) if isinstance(value, torch.Tensor) else value
    return found


def running() -> Pass:
    return RUNNING[-1] if RUNNING else HISTORY.passes[-1] if HISTORY.passes else HISTORY.begin(here(3), "backward")


def watch_leaf(node: Any) -> None:
    """See what arrives at a leaf, and what it does to .grad."""
    node.metadata[KEY] = True
    leaf = weakref.ref(node.variable)
    key, shape = id(node.variable), () if node.variable.is_nested else tuple(node.variable.shape)
    befores: list = []

    def before(incoming: Any) -> None:
        if looking:
            return
        tensor = leaf()
        grad = None if tensor is None else tensor.grad
        befores.append(None if grad is None else small(grad))

    def after(outgoing: Any, incoming: Any) -> None:
        if looking:
            return
        run, tensor = running(), leaf()
        grad = None if tensor is None else tensor.grad
        arrived = None if incoming[0] is None else small(incoming[0])
        run.arrivals.append(Arrival(key, leaf, arrived, befores.pop() if befores else None, None if grad is None else small(grad), shape))

    node.register_prehook(before)
    node.register_hook(after)


def small(tensor: Any) -> Any:
    array = array_of(tensor)
    return array if array is None or array.size <= WHOLE else summarised(array, WHOLE)


def array_of(tensor: Any) -> Any:
    """A copy of a tensor's values as an array; None for kinds that NumPy does not know, and for large ones a view of them."""
    if not isinstance(tensor, torch.Tensor):
        return None
    tensor = tensor.detach()
    try:
        array = (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).resolve_conj().cpu().numpy()
    except (TypeError, RuntimeError):  # sparse, quantized, without storage
        return None
    return array.copy() if array.size <= WHOLE else array
