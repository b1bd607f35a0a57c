"""Keep which module of a model ran which op. Imports observations, protocol and roots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .observations import lookup, record
from .protocol import is_tensor
from .roots import tensors_in


@contextmanager
def module_scopes(model: Any, name: str = "") -> Iterator[None]:
    """Within the block, keep which module of `model` runs which op, for group="module".

    Works by forward hooks, which are removed at the end; each call of a module takes one sequence number.

    >>> from gradrepl import torch, graph
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    >>> with module_scopes(model, "model"):
    ...     y = model(torch.ones(1, 2)).sum()
    >>> [node.scope[-1:] for node in graph(y).nodes if not node.leaf]
    [(), ('model.1',), ('model.0',), ('model.0',)]
    """
    handles, began = [], []
    for path, module in model.named_modules():
        scope = ".".join(filter(None, (name, path)))
        handles.append(module.register_forward_pre_hook(lambda *_: began.append(sequence_number(model))))
        handles.append(module.register_forward_hook(lambda _, __, output, scope=scope: mark(output, scope, began.pop())))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def sequence_number(model: Any) -> int:
    """The number of a node made now."""
    for parameter in model.parameters():
        return (parameter.detach().new_zeros(()).requires_grad_() * 1).grad_fn._sequence_nr()
    return 0


def mark(output: Any, scope: str, first: int) -> None:
    """Say of all nodes below `output` that are no older than `first` and in no inner module that `scope` ran them."""
    stack = [tensor.grad_fn for _, tensor in tensors_in(output) if is_tensor(tensor) and tensor.grad_fn is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if hasattr(node, "variable") or node._sequence_nr() < first:
            continue
        known = lookup(node)
        if known is None or not known.scope:
            record(node, scope=(scope,))
        elif known.scope[0] != scope:
            record(node, scope=(scope, *known.scope))
        for target, _ in node.next_functions:
            if target is not None and target not in seen:
                seen.add(target)
                stack.append(target)
