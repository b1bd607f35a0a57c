"""Forward-mode differentiation: tensors that carry a tangent. Imports backward and what it stands on.

While a level is open, an observer of recorded nodes gives each result its tangent: the derivative of the node's own gradients, which are
linear in what flows back, taken once more against the tangents of its inputs. So every op that can be differentiated twice has a forward
derivative, and no formula is written a second time. Tangents are kept by edge; tensors that need no gradient get nodes of their own for the
time of the level, which nobody sees (`HIDDEN`).
"""

import weakref
from typing import NamedTuple

import numpy as np

from gradrepl.engine.backward import grad
from gradrepl.engine.execution import fitted
from gradrepl.engine.function import NO_JVP, BackwardCFunction, Function
from gradrepl.engine.modes import enable_grad, here
from gradrepl.engine.names import NAMES, listen, unlisten
from gradrepl.engine.node import Node, edge_of
from gradrepl.engine.tensor import HIDDEN, Tensor, tensor_of
from gradrepl.engine.views import geometry_of, storage, strided

NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
NESTED = "Nested forward mode AD is not supported at the moment"
SIZE = (
    "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of "
    "size {} "
    "while the given forward gradient is of size {}."
)
TWICE = "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {} is not supported."
NOT_LAST = "Trying to exit a forward AD level that was not the last one that was created. This is not supported."


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent."""

    primal: Tensor
    tangent: Tensor | None


UnpackedDualTensor.__module__ = "torch.autograd.forward_ad"


class Level:
    """What is known while forward mode is on."""

    def __init__(self):
        self.tangents: dict = {}  # edge -> tangent
        self.hidden: list = []  # tensors that have a node only for their tangent


class Carrier(Node):
    """The node of a dual tensor that needs no gradient."""

    __slots__ = ()

    def apply(self, grads, mask):
        return ()


def enter_level():
    if here.level is not None:
        raise RuntimeError(NESTED)
    here.level = Level()
    listen("watch", push)
    return 0


def exit_level(level=None):
    if here.level is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(NOT_LAST)
    unlisten("watch", push)
    for reference in here.level.hidden:
        tensor = reference()
        if tensor is not None and tensor.node in HIDDEN:
            tensor.needs_grad, tensor.node = False, None
    HIDDEN.difference_update({end for end, _ in here.level.tangents})
    here.level = None


def make_dual(tensor, tangent):
    """A tensor on the same storage that carries a tangent."""
    if here.level is None:
        raise RuntimeError(NO_LEVEL)
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {x.dtype}")
    if tangent_of(tensor) is not None:
        raise RuntimeError(TWICE.format(0))
    if tensor.shape != tangent.shape:
        raise RuntimeError(SIZE.format(list(tensor.shape), list(tangent.shape)))
    if tensor.requires_grad and here.grad:
        dual = tensor.view_as(tensor)
    else:
        dual = tensor.alias()
        hide(dual, Carrier((), (), (), ((dual.array.shape, dual.array.dtype),)))
    here.level.tangents[edge_of(dual)] = tangent
    return dual


def unpack_dual(tensor):
    """A dual tensor's parts."""
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    primal = tensor.alias() if tensor.node in HIDDEN else tensor.view_as(tensor)
    here.level.tangents.pop(edge_of(primal), None)
    return UnpackedDualTensor(primal, tangent)


def tangent_of(tensor):
    """The tangent a tensor carries, or None."""
    return here.level.tangents.get(edge_of(tensor)) if here.level is not None and tensor.needs_grad else None


def hide(tensor, node):
    HIDDEN.add(node)
    tensor.node, tensor.output_nr, tensor.needs_grad = node, 0, True
    here.level.hidden.append(weakref.ref(tensor))


# ---- ops


def push(node, result):
    """A node was recorded: give its outputs their tangents, and hide it if it needs no gradient."""
    level = here.level
    if level is None or here.pushing:
        return
    tangents = [level.tangents.get(edge) if edge else None for edge in node.next_edges]
    hidden = [bool(edge) and edge[0] in HIDDEN for edge in node.next_edges]
    outputs = [x for x in (result if isinstance(result, tuple) else (result,)) if isinstance(x, Tensor) and x.needs_grad]
    only_forward = not here.records or all([h or not edge for h, edge in zip(hidden, node.next_edges)])
    if any([t is not None for t in tangents]):
        if only_forward:
            HIDDEN.add(node)
        graph = not only_forward or any([t is not None and t.requires_grad for t in tangents])
        for x, tangent in zip(outputs, tangents_through(node, tangents, outputs, graph)):
            carry(x, node, tangent, only_forward)
    elif only_forward:
        for x in outputs:
            x.needs_grad, x.node = False, None
    if not only_forward and True in hidden:
        node.next_edges = tuple([None if h else edge for h, edge in zip(hidden, node.next_edges)])


def carry(tensor, node, tangent, only_forward):
    """Note the tangent of a result; what was written through a view has it in its base as well."""
    level, edge = here.level, edge_of(tensor)
    if tangent is not None:
        level.tangents[edge] = tangent
    if only_forward:
        HIDDEN.add(edge[0])
        level.hidden.append(weakref.ref(tensor))
    if edge[0] is node or tensor.origin is None:
        return
    base, array = tensor.origin.base, tensor.array
    before = level.tangents.get(base.node.next_edges[0])  # the base's node is a CopySlices over what it was
    flat = np.zeros(storage(base.array).size, array.dtype)
    whole, part = (strided(flat, *geometry_of(x)) for x in (base.array, array))
    if before is not None:
        whole[...] = before.array
    part[...] = tangent.array
    level.tangents[edge_of(base)] = tensor_of(whole.copy())
    if only_forward:
        HIDDEN.add(base.node)
        level.hidden.append(weakref.ref(base))


def tangents_through(node, tangents, outputs, graph):
    """The tangent of every output of a node; with a `graph` if one can lead to anything."""
    here.pushing = True
    try:
        with enable_grad():
            if isinstance(node, BackwardCFunction):
                found = function_tangents(node, tangents)
            else:
                found = twice_differentiated(node, tangents, outputs, graph)
    finally:
        here.pushing = False
    return found if graph else [x if x is None else x.detach() for x in found]


def twice_differentiated(node, tangents, outputs, graph):
    """The node's gradients are linear in what flows back; the derivative of that, against the tangents, is the forward derivative."""
    dummies = [tensor_of(np.ones(x.array.shape, x.array.dtype)).requires_grad_() for x in outputs]
    grads = dummies + [None] * (len(node.output_metas) - len(dummies))
    answers = node.apply(grads, [t is not None for t in tangents])
    pairs = []
    for edge, answer, tangent in zip(node.next_edges, answers, tangents):
        if answer is not None and tangent is not None and answer.requires_grad:
            end, number = edge
            meta = (end.array.shape, end.array.dtype) if isinstance(end, Tensor) else end.output_metas[number]
            pairs.append((fitted(answer, *meta), tangent))
    found = grad([a for a, _ in pairs], dummies, [t for _, t in pairs], True, graph, allow_unused=True) if pairs else [None] * len(dummies)
    return [NAMES["zeros_like"](x) if f is None else f for x, f in zip(outputs, found)]


def function_tangents(node, tangents):
    """What a custom Function's own `jvp` says."""
    if node._forward_cls.jvp is Function.jvp:
        raise NotImplementedError(NO_JVP)
    given = dict(zip(node._tensor_places, tangents))
    answers = node._forward_cls.jvp(node, *[given.get(i) for i in range(len(node.needs_input_grad))])
    return answers if isinstance(answers, tuple) else (answers,)
