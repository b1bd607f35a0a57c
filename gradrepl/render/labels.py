"""The words on a card, for every format. Imports graphs only."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from gradrepl.graphs.formulas import input_names
from gradrepl.graphs.model import Cut, Graph, Node, Output, Root, Saved, Source, count

DEFAULTS: dict[str, Any] = {"alpha": 1, "beta": 1, "dropout_p": 0.0}
STATES = {"freed": "freed by backward", "packed": "behind a saved-tensor hook", "unread": "not looked at"}
BROADCASTS = frozenset(
    "Add Sub Rsub Mul Div Pow1 Where Maximum Minimum Fmax Fmin Atan2 Lerp Addcmul Addcdiv Copysign Hypot Xlogy Fmod1 Remainder1".split()
)
FIRST_BROADCASTS = frozenset("Addmm Addbmm Baddbmm Addmv Addr".split())


def visible(text: str) -> str:
    """Control characters as they are written in Python: XML cannot hold them."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


@lru_cache(maxsize=1000)
def short(name: str) -> str:
    """Add for AddBackward0, Pow1 for PowBackward1."""
    head, middle, tail = name.rpartition("Backward")
    return head + tail.lstrip("0") if middle else name


def forward_name(name: str) -> str:
    """The function that recorded a node: mul for MulBackward0, log_softmax for LogSoftmaxBackward0."""
    head = name.rpartition("Backward")[0] or name
    return "".join("_" + letter.lower() if letter.isupper() and number else letter.lower() for number, letter in enumerate(head))


def op_name(node: Node, graph: Graph) -> str:
    return forward_name(node.name) if graph.look.labels == "forward" and node.kind == "op" else node.name


def shape_text(shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def type_text(output: Output, default: str = "float32") -> str:
    """The shape, then whatever is out of the ordinary: "(3,) float64"."""
    return " ".join(filter(None, (shape_text(output.shape), output.dtype if output.dtype != default else "", device_text(output))))


def device_text(output: Output) -> str:
    return output.device if output.device != "cpu" else ""


def bytes_text(size: int) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size} {unit}" if isinstance(size, int) else f"{size:.3g} {unit}"
        size /= 1000  # type: ignore[assignment]
    raise AssertionError


def source_text(source: Source) -> str:
    return f"{os.path.basename(source.filename)}:{source.line}"


def shortened(text: str, most: int = 48) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip(", ") + "…"


def writing_texts(node: Node) -> list[str]:
    """What a write through a view did, as far as that was seen: the op, the line."""
    line = node.source.text.strip() if node.source else ""
    return [node.inner, f"writes by {line}" if line else ""]


def names_text(names: tuple[str, ...], most: int = 3) -> str:
    """The names of a tensor, the first few, none longer than a card may be wide."""
    return ", ".join(map(shortened, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def outputs_text(node: Node) -> str:
    """Names, number and type of the only output, or how many there are."""
    if len(node.outputs) > 1:
        return f"{len(node.outputs)} outputs" + (f": {names_text(node.names)}" if node.names else "")
    output, named = node.outputs[0], names_text(node.names)
    if item_text(output):
        return f"{named}{item_text(output)} {type_text(output)}".strip()
    return " ".join(filter(None, (f"{named}:" if named and output.shape is not None else named, type_text(output))))


def item_text(output: Output) -> str:
    """The number of a tensor of one element, behind its name."""
    return f" = {output.value.text}" if output.value and output.value.item is not None else ""


def several_text(output: Output) -> str:
    """The numbers of a tensor of several elements, on a line of their own."""
    return f"= {shortened(output.value.text)}" if output.value and output.value.item is None else ""


def numbers_text(output: Output) -> str:
    """What `outputs_text` does not say: the numbers of a tensor of several, the gradient."""
    return " · ".join(filter(None, (several_text(output), f"grad {output.grad.text}" if output.grad else "")))


def argument_text(name: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{name} {value:.6g}"
    return f"{name} {shape_text(value) if isinstance(value, tuple) and all(isinstance(item, int) for item in value) else value}"


def arguments_text(node: Node) -> str:
    """The arguments that are not what they are by default."""
    return ", ".join(argument_text(*pair) for pair in node.arguments if is_telling(*pair))


def is_telling(name: str, value: Any) -> bool:
    """Is an argument worth a word? 0 is, what is absent or as by default is not."""
    return value is not None and value is not False and value not in ((), "") and not (name in DEFAULTS and value == DEFAULTS[name])


def constants_text(node: Node) -> str:
    """Which inputs no gradient flows to, by name where that is known; numbers are told as arguments."""
    if node.kind == "inplace" or None not in node.inputs:  # of a write they are those of the op that wrote, which is not known
        return ""
    numbers = {name for name, _ in node.arguments}
    places = [place for place, edge in enumerate(node.inputs) if edge is None and input_name(node, place) not in numbers]
    if not places:
        return ""
    named = {slot: each.names[0] for each in node.saved if each.constant and each.names for slot in each.slots}
    places = [place for place in places if not cut_of(node, input_name(node, place))]
    if not places:
        return ""
    texts = [named.get(input_name(node, place), input_name(node, place) or f"input {place}") for place in places]
    return f"{', '.join(texts)} constant" if len(texts) < 4 else f"{len(texts)} constant inputs"


def cut_of(node: Node, slot: str) -> Cut | None:
    """What cut the graph of an input, if the node keeps that input and it was seen."""
    return next((each.cut for each in node.saved if slot in each.slots), None)


def cuts_of(node: Node) -> list[tuple[int, str, Cut]]:
    """The inputs whose graph was cut: (position, name of the tensor or of the input, why)."""
    found: list[tuple[int, str, Cut]] = []
    if not node.saved or None not in node.inputs:
        return found
    for place, edge in enumerate(node.inputs):
        slot = input_name(node, place)
        saved = next((each for each in node.saved if slot in each.slots and each.cut), None)
        if edge is None and saved and saved.cut:
            found.append((place, saved.names[0] if saved.names else slot, saved.cut))
    return found


def input_name(node: Node, place: int) -> str:
    """What PyTorch's documentation calls an input: "self", "mat2", "tensors[1]"; "" where that is not known."""
    names = input_names(node.name) if node.kind != "custom" else ()
    if len(names) == len(node.inputs):
        return names[place]
    return f"{names[0]}[{place}]" if len(names) == 1 else ""


def edge_label(node: Node, place: int) -> str:
    """The name or number of an input, where there are several."""
    if len(node.inputs) < 2:
        return ""
    return input_name(node, place) or (str(place) if sum(edge is not None for edge in node.inputs) > 1 else "")


def output_label(target: Node, output: int) -> str:
    return f"out {output}" if len(target.outputs) > 1 else ""


def sum_label(node: Node, place: int, target: Output) -> str:
    """What undoes a broadcast: the gradient of an input that was stretched is summed, which no node shows."""
    name, own = short(node.name), node.outputs[0].shape
    stretched = name in BROADCASTS or name in FIRST_BROADCASTS and place == 0
    if not stretched or len(node.outputs) != 1 or own is None or target.shape is None or own == target.shape:
        return ""
    return f"sum {shape_text(own)} → {shape_text(target.shape)}"


def leaf_name(node: Node, most: int = 3) -> str:
    """The names of a leaf; for want of one its id, so that its aliases can be told from those of another."""
    return names_text(node.names, most) or f"leaf {node.id}"


def leaf_text(node: Node) -> str:
    """The second line of a leaf."""
    output = node.outputs[0]
    parts = [type_text(output), "grad " + (output.grad.text if output.grad else "set" if node.has_grad else "None")]
    return " · ".join([*parts, *([f"used ×{node.uses}"] if node.uses > 1 else []), *badges(output)])


def badges(output: Output) -> list[str]:
    hooks = [count(output.hooks, "hook")] if output.hooks else []
    return hooks + (["retains grad"] if output.retains_grad else [])


def root_name(root: Root, graph: Graph) -> str:
    if root.tensor and root.tensor.names:
        return names_text(root.tensor.names)
    if root.path:
        return "out" + root.path
    return "out"


def root_title(root: Root, graph: Graph) -> str:
    return root_name(root, graph) + (item_text(root.tensor) if root.tensor else "")


def saved_text(saved: Saved) -> str:
    """The first line of a saved tensor: "self, other = x"."""
    return ", ".join(saved.slots) + (f" = {shortened(saved.names[0])}" if saved.names else "")


def saved_detail(saved: Saved) -> str:
    if saved.state in STATES:
        return STATES[saved.state]
    parts = [f"{shape_text(saved.shape)} {saved.dtype if saved.dtype != 'float32' else ''}".strip(), bytes_text(saved.bytes or 0)]
    if saved.expected is not None:
        parts.append(f"version {saved.expected}, now {saved.version}")
    return " · ".join(parts)


def saved_value(saved: Saved) -> str:
    return f"= {shortened(saved.value.text)}" if saved.value else ""


def cut_text(cut: Cut | None) -> str:
    if cut is None or not cut.reason:
        return "detached, or made without gradients"
    return cut.reason + (f" at line {cut.source.line}" if cut.source else "")


def tooltip(node: Node) -> str:
    """All that is known of a node, a line each."""
    lines = [f"{node.id} {node.title if node.leaf else node.name}"]
    for number, output in enumerate(node.outputs):
        which = f"output {number}: " if len(node.outputs) > 1 else ""
        lines.append(
            which
            + " ".join(
                filter(
                    None,
                    (
                        names_text(output.names, 9),
                        shape_text(output.shape),
                        output.dtype,
                        device_text(output),
                        f"= {output.value.text}" if output.value else "",
                        f"grad {output.grad.text}" if output.grad else "",
                        *badges(output),
                    ),
                )
            )
        )
    lines += [argument_text(*pair) for pair in node.arguments]
    lines += [f"saved {saved_text(saved)}: {saved_detail(saved)}" for saved in node.saved]
    if node.leaf:
        lines.append(f"leaf, grad {'set' if node.has_grad else 'None'}, {count(node.uses, 'use')}")
    if node.source:
        lines.append(f"{source_text(node.source)}  {node.source.text.strip()}".strip())
    if node.defined:
        lines.append(f"defined at {source_text(node.defined)}")
    return "\n".join(lines + [f"! {fault}" for fault in node.faults])
