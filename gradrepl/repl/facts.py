"""What a value is, in a few words: its shape, dtype, place in the graph, and how large that graph is. Looks and changes nothing."""

from typing import Any

LIMIT = 5_000


def is_tensor_type(kind: type) -> bool:
    """Whether the tensors of either engine; needs no graph layer, which takes its time to load."""
    return hasattr(kind, "grad_fn") and hasattr(kind, "requires_grad") and hasattr(kind, "shape")


def is_tensor(value: Any) -> bool:
    """Whether a tensor, asked of its type: an object of the user's is not touched."""
    return is_tensor_type(type(value))


def is_node(value: Any) -> bool:
    return hasattr(type(value), "next_functions")


def formulas_of(kind: type) -> dict[str, str]:
    """The derivative of each input of a node class; of PyTorch's own nodes too, by their names."""
    from gradrepl.graphs.formulas import formulas

    own = getattr(kind, "formulas", None) or formulas(kind.__name__)
    return {name: text for name, text in own.items() if isinstance(text, str)}


def node_name(node: Any) -> str:
    return type(node).__name__


def about(value: Any) -> str:
    """The line that %info shows under a result; empty for what is no tensor."""
    if not is_tensor(value):
        return ""
    return "  ".join([f"shape {tuple(value.shape)}", f"dtype {str(value.dtype).removeprefix('torch.')}", place(value)])


def place(tensor: Any) -> str:
    """Where a tensor stands in its graph."""
    if not tensor.requires_grad:
        return "no gradient"
    if tensor.grad_fn is None:
        return "leaf, grad " + ("None" if tensor.grad is None else "set")
    return f"grad_fn {node_name(tensor.grad_fn)}"


def short(value: Any) -> str:
    """The value and its graph for the toolbar: `AddBackward0, 6 nodes, depth 4`."""
    if is_tensor(value):
        if value.grad_fn is None:
            return f"{'leaf ' if value.requires_grad else ''}{list(value.shape)}"
        value = value.grad_fn
    if not is_node(value):
        return ""
    size, depth, whole = measured(value)
    return f"{node_name(value)}, {size}{'' if whole else '+'} node{'s' * (size != 1)}, depth {depth}{'' if whole else '+'}"


def measured(root: Any, limit: int = LIMIT) -> tuple[int, int, bool]:
    """The number of nodes under a node, itself included, and the longest way down. Stops counting at the limit."""
    seen, stack = {root}, [root]
    while stack and len(seen) <= limit:
        node = stack.pop()
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                stack.append(below)
    return len(seen), longest(root, seen), not stack


def longest(root: Any, nodes: set[Any]) -> int:
    """The number of nodes on the longest way down from the root, inside a set of nodes."""
    waiting = dict.fromkeys(nodes, 0)
    for node in nodes:
        for below, _ in node.next_functions:
            if below in waiting:
                waiting[below] += 1
    depth, ready = {root: 1}, [root]
    while ready:
        node = ready.pop()
        for below, _ in node.next_functions:
            if below in waiting:
                depth[below] = max(depth.get(below, 0), depth[node] + 1)
                waiting[below] -= 1
                if not waiting[below]:
                    ready.append(below)
    return max(depth.values())


def variables(names: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each name: type, shape, dtype, requires_grad, grad_fn; tensors first. Other values are asked nothing."""
    tensors = [row(name, value) for name, value in names.items() if is_tensor(value)]
    return tensors + [(name, type(value).__name__, "", "", "", "") for name, value in names.items() if not is_tensor(value)]


def row(name: str, tensor: Any) -> tuple[str, ...]:
    node = node_name(tensor.grad_fn) if tensor.grad_fn is not None else ""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return name, type(tensor).__name__, str(tuple(tensor.shape)), dtype, str(tensor.requires_grad), node
