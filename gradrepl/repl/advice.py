"""What to do about an error of autograd: where in the graph it happened, which line made that node, and one line of advice.

Knows errors by PyTorch's texts, so it serves both engines. Imports graphs and insight.
"""

import re
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from gradrepl.repl.facts import is_node, is_tensor, measured, node_name
from gradrepl.repl.tracebacks import is_internal

# a text in the message -> what to do; `{0}`… are the groups of the pattern, `{name}` what the engine's frames tell
ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"grad can be implicitly created only for scalar outputs",
        "{root} has shape {shape}: reduce it first, {call}.sum().backward(), "
        "or say what to send back, {call}.backward(torch.ones({shape}))",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        "nothing that {root} was computed from asks for a gradient: create it with requires_grad=True; "
        "why({call}) shows where the graph was cut",
    ),
    (r"a second time", "{earlier}compute {root} again before each backward, or keep the graph with backward(retain_graph=True)"),
    (r"modified by an inplace operation", "{writer}write out of place (x = x + 1, not x += 1), or change a x.clone()"),
    (
        r"a (?:view of a )?leaf Variable that requires grad",
        "to update a parameter, write inside `with torch.no_grad():`; to compute with it, write out of place (x = x + 1)",
    ),
    (
        r"Tensors appears to not have been used in the graph",
        "it takes no part in the result: did you mean another tensor? allow_unused=True gives None for it",
    ),
    (r"One of the differentiated Tensors does not require grad", "create it with requires_grad=True before computing with it"),
    (
        r"Only Tensors of floating point and complex dtype can require gradients",
        "write a decimal point, 1. instead of 1, or dtype=torch.float32",
    ),
    (r"trying to differentiate twice", "write the function's backward with tensor operations, without @once_differentiable"),
    (r"only change requires_grad flags of leaf variables", "detach() gives the same values outside the graph"),
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        "the inner sizes must agree, and {1} is not {2}: transpose one (.T), or look at the layer that made it",
    ),
    (
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        "shapes are aligned from the right; unsqueeze adds a dimension of size 1, which then stretches",
    ),
    (r"Boolean value of Tensor with more than one value", "use .any() or .all(), or torch.where for a choice by element"),
    (r"\.grad attribute of a Tensor that is not a leaf", "call retain_grad() on it before backward, and its gradient is kept"),
    (
        r"'NoneType' object has no attribute '(?:zero_|data|add_|mul_|clone|norm|detach)'",
        "a .grad is None until backward has reached it; why(x) tells the reason",
    ),
    (
        r"must have the same dtype|expected .*dtype.* got|Found dtype \w+ but expected \w+",
        "convert one of them: x.float(), x.double(), x.to(y.dtype)",
    ),
)
VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
ROOTS = ("self", "tensors", "outputs", "output", "roots")


class Place(NamedTuple):
    """Where in the engine an error happened."""

    node: Any  # the node that was running, None where that is not known
    root: Any  # what backward was called on
    frame: FrameType | None  # the user's frame that called


def notes(error: BaseException, tb: TracebackType | None) -> list[str]:
    """The lines to show under the error: the node with its formula and origin, and advice."""
    place = place_of(tb)
    advice = advice_for(str(error), place)
    return [*(about_node(place) if advice or place.node is not None else []), *advice]


def place_of(tb: TracebackType | None) -> Place:
    """Read the engine's frames: the node whose turn it was, and the root of the pass."""
    frames = list(frames_of(tb))
    inside = [frame for frame in frames if is_internal(frame.f_code.co_filename)]
    user = next((frame for frame in reversed(frames) if not is_internal(frame.f_code.co_filename)), None)
    nodes = [frame.f_locals[name] for frame in inside for name in ("node", "self") if is_node(frame.f_locals.get(name))]
    root = next((found for frame in inside for name in ROOTS if (found := first_tensor(frame.f_locals.get(name))) is not None), None)
    return Place(nodes[-1] if nodes else None, root, user)


def frames_of(tb: TracebackType | None) -> Iterator[FrameType]:
    while tb is not None:
        yield tb.tb_frame
        tb = tb.tb_next


def first_tensor(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return next((item for item in value if is_tensor(item)), None)
    return value if is_tensor(value) else None


def about_node(place: Place) -> list[str]:
    """`in ExpBackward0 n3, made by line 2: y = x.exp()`, and its formulas."""
    graph, node = graph_with(place)
    if graph is None or node is None:
        return [f"in {node_name(place.node)}"] if place.node is not None else []
    where = f", made by {located(node.source)}" if node.source else ""
    from gradrepl.graphs.formulas import formulas

    written = [f"  gradient of {name}: {formula}" for name, formula in formulas(node.name).items()]
    return [f"in {node.name} {node.id}{where}", *written[:3]]


def located(source: Any) -> str:
    """`line 2 of input 3: y = x.exp()`."""
    return f"line {source.line} of {file_name(source.filename)}" + (f": {source.text}" if source.text else "")


def graph_with(place: Place) -> tuple[Any, Any]:
    """The graph of the root and, in it, the node that failed: the one that ran, or else the first with a fault."""
    if place.root is None or place.root.grad_fn is None or not measured(place.root.grad_fn)[2]:
        return None, None  # nor in a graph too large to be drawn: an error must not take seconds to show
    from gradrepl.graphs import capture

    seen = capture(place.root, names=names_of(place.frame))
    by_id = {node.id: node for node in seen.graph.nodes}
    running = next((by_id[key] for key, function in seen.functions.items() if function is place.node and key in by_id), None)
    return seen.graph, running or next((node for node in seen.graph.nodes if node.faults), None)


def names_of(frame: FrameType | None) -> dict[str, Any]:
    return {**frame.f_globals, **frame.f_locals} if frame else {}


NOWHERE = Place(None, None, None)


def advice_for(message: str, place: Place = NOWHERE) -> list[str]:
    """The advice for a message of PyTorch's, at most one line."""
    for pattern, advice in ADVICE:
        if match := re.search(pattern, message):
            return ["→ " + advice.format(*match.groups(), **details(place, message, advice))]
    return []


def details(place: Place, message: str, advice: str) -> dict[str, str]:
    """What the advice asks for by name."""
    known: dict[str, Any] = {
        "root": lambda: root_name(place) or "it",
        "call": lambda: root_name(place) or "(…)",
        "shape": lambda: str(tuple(place.root.shape)) if place.root is not None else "not a single number",
        "earlier": lambda: earlier_pass(place),
        "writer": lambda: writer_of(message),
    }
    return {name: find() for name, find in known.items() if "{" + name + "}" in advice}


def root_name(place: Place) -> str:
    """What the user calls the root; empty where it has no name."""
    names = names_of(place.frame) if place.root is not None else {}
    return next((name for name, value in names.items() if value is place.root and not name.startswith("_")), "")


def earlier_pass(place: Place) -> str:
    """Which backward freed the graph."""
    from gradrepl.insight.history import HISTORY

    passes = list(HISTORY.passes)[:-1]
    return f"{spelled(passes[-1].where)} has freed the graph; " if passes else ""


def writer_of(message: str) -> str:
    """Which line wrote: the write that brought the version after the expected one."""
    from gradrepl.insight.history import HISTORY

    versions = VERSIONS.search(message)
    if not versions:
        return ""
    expected = int(versions[2])
    made = re.search(r"which is output \d+ of (\w+)", message)
    writes = [write for write in HISTORY.writes if write.version == expected + 1 and (not made or write.source.startswith(made[1]))]
    return f"{spelled(writes[-1].where)} changed what had been saved; " if writes else ""


def spelled(where: Any) -> str:
    return f"line {where.line} of {file_name(where.filename)}" + (f" ({where.text})" if where.text else "")


def file_name(filename: str) -> str:
    """What a person calls a file: `input 3` for what was typed."""
    from gradrepl.insight.places import input_number

    number = input_number(filename)
    return filename if number is None else f"input {number}"
