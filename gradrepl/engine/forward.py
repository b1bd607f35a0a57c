"""Forward-mode differentiation: tensors that carry a tangent. Imports backward and what it stands on.

While a level is open, an observer of recorded nodes gives each result its tangent: the derivative of the node's own gradients, which are
linear in what flows back, taken once more against the tangents of its inputs. So every op that can be differentiated twice has a forward
derivative, and no formula is written a second time. A tangent belongs to a node and lives as long; a tensor that needs no gradient gets a
node for the time of the level, a `Carrier`, which nobody sees. Tangents lie in memory as their tensors do: a view's is a view of its
base's, and a write in place writes the tangent in place.
"""

import weakref
from typing import NamedTuple

import numpy as np

from gradrepl.engine.backward import grad
from gradrepl.engine.execution import fitted
from gradrepl.engine.function import NO_JVP, BackwardCFunction, Function
from gradrepl.engine.mirrors import CONJUGATE, NEGATIVE, owner, sign_of
from gradrepl.engine.modes import enter_mode, here
from gradrepl.engine.names import NAMES, listen, unlisten
from gradrepl.engine.node import TupleNode, edge_of
from gradrepl.engine.tensor import BORROWED, HIDDEN, STALE, Tensor, tensor_of
from gradrepl.engine.views import Through, geometry_of, offset, storage, strided

UNSUPPORTED = (
    "Trying to use forward AD with {} that does not support it because it has not been implemented yet.\nPlease file an issue to PyTorch "
    "at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its implementation or submit "
    "a PR adding the implementation to derivatives.yaml"
)
NO_FORWARD = dict(  # nodes of operations that PyTorch has no forward derivative of
    Cdist="_cdist_forward",
    ConvTbc="conv_tbc",
    CtcLoss="_ctc_loss",
    EmbeddingBag="_embedding_bag",
    Geqrf="geqrf",
    GridSampler2D="grid_sampler_2d",
    GridSampler3D="grid_sampler_3d",
    Igamma="igamma",
    Igammac="igammac",
    IndexReduce="index_reduce",
    MultiMarginLoss="multi_margin_loss",
    MultilabelMarginLoss="multilabel_margin_loss_forward",
    Ormqr="ormqr",
    PackPaddedSequence="_pack_padded_sequence",
    Pdist="_pdist_forward",
    ScaledDotProductFlashAttentionForCpu="_scaled_dot_product_flash_attention_for_cpu",
    SegmentReduce="segment_reduce",
    SpecialZeta="special_zeta",
    StandardGamma="_standard_gamma",
    Unique2="_unique2",
    WeightNormInterface="_weight_norm_interface",
)
NO_MAPPING = "Batching rule not implemented for aten::_make_dual; the fallback path doesn't work on out= or view ops."
NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
NESTED = "Nested forward mode AD is not supported at the moment"
SIZE = (
    "Trying to set a forward gradient that has a different size than that of the original Tensor, "
    "this is not supported. Tensor is of size {} while the given forward gradient is of size {}."
)
TWICE = "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {} is not supported."
NOT_LAST = "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
NESTED_TANGENT = "Setting a forward grad that itself has a forward gradient at the same level{} is not supported."
NOT_FLOATING = "Expected both tensor and its forward grad to be floating point or complex"
COUNT = "Function's jvp returned an invalid number of forward gradients (expected {} but got {})"
NOT_DIFFERENTIABLE = (
    "Function's jvp returned a gradient at position {}, but  the corresponding forward output is not a differentiable Tensor.You should "
    "return None at that position instead."
)
NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input inplace, then "
    "the jvp function must modify the corresponding gradient inplace."
)
NO_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
OTHER_VIEW = "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
OTHER_BASE = "A custom Function is returning a view but the jvp is not returning a view of the same base as the given grad input."


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent."""

    primal: Tensor
    tangent: Tensor | None


UnpackedDualTensor.__module__ = "torch.autograd.forward_ad"


class Level:
    """What is known while forward mode is on."""

    def __init__(self):
        self.tangents = weakref.WeakKeyDictionary()  # node -> {output number: tangent}, of nodes that also lead backwards
        self.hidden: list = []  # tensors that have a node only for their tangent
        self.leaves: dict = {}  # id -> (a leaf, its tangent)
        self.duals: dict = {}  # id -> tensors that make_dual made: their tangents are no views, whatever they are themselves
        self.wrote = None  # the node of the write in place that was last heard of

    def heard(self, tensor, node):
        self.wrote = node

    def uncover(self, tensor):
        if type(tensor.node) is Carrier:
            self.leaves[id(tensor)] = weakref.ref(tensor), tensor.node.tangent
            tensor.node = None


class Carrier(TupleNode):
    """The node of a tensor that needs no gradient, with its tangent."""

    __slots__ = ("tangent",)
    requires_grad = False

    def __init__(self, array, tangent):
        super().__init__((), (), (), ((array.shape, array.dtype),))
        self.tangent = tangent

    def apply(self, grads, mask):
        return ()


def enter_level():
    if here.level is not None or here.paused is not None:
        raise RuntimeError(NESTED)
    level = here.level = Level()
    HIDDEN.add(level)
    listen("watch", push)
    listen("wrote", level.heard)
    return 0


def exit_level(level=None):
    open_level = here.level or here.paused
    if open_level is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(NOT_LAST)
    unlisten("watch", push)
    unlisten("wrote", open_level.heard)
    for reference in open_level.hidden:
        tensor = reference()
        if tensor is not None and type(tensor.node) is Carrier:
            bare(tensor)
    HIDDEN.discard(open_level)
    here.level = here.paused = None


def bare(tensor):
    """Take the carrier away, also from what was to become a view of its tangent."""
    tensor.needs_grad, tensor.node = False, None
    for reference in tensor.counter.views:
        view = reference()
        if view is not None and view.origin.base is tensor and view.needs_grad in (STALE, BORROWED):
            view.needs_grad, view.node = False, None


def set_enabled(enabled):
    """Whether ops carry tangents on."""
    here.forward = enabled
    if enabled and here.paused is not None:
        here.level, here.paused = here.paused, None
    elif not enabled and here.level is not None:
        here.level, here.paused = None, here.level


def make_dual(tensor, tangent):
    """A tensor on the same storage that carries a tangent."""
    if here.level is None:
        raise RuntimeError(NO_LEVEL)
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {x.dtype}")
    if here.mapping and not type(tensor.array) is type(tangent.array) is np.ndarray:
        raise RuntimeError(NO_MAPPING)
    if tangent_of(tensor) is not None:
        raise RuntimeError(TWICE.format(0))
    if tangent_of(tangent) is not None:
        raise RuntimeError(NESTED_TANGENT.format(0))
    check_size(tensor, tangent)
    recorded = tensor.requires_grad and here.grad
    dual = outside(lambda: tensor.view_as(tensor) if recorded else tensor.alias())
    assign(dual, outside(lambda: laid_out(tangent, dual)), not recorded)
    here.level.duals[id(dual)] = weakref.ref(dual)
    return dual


def check_size(tensor, tangent):
    if tensor.shape != tangent.shape:
        raise RuntimeError(SIZE.format(list(tensor.shape), list(tangent.shape)))


def unpack_dual(tensor):
    """A dual tensor's parts."""
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    primal = tensor.alias() if type(tensor.node) is Carrier else outside(lambda: NAMES["fw_primal"](tensor))
    return UnpackedDualTensor(primal, tangent)


def tangent_of(tensor):
    """The tangent a tensor carries, or None."""
    if not tensor.needs_grad or here.level is None:
        return None
    edge = edge_of(tensor)
    return edge and tangent_at(edge)


def tangent_at(edge):
    """The tangent that belongs to an edge; a view that was made anew after a write has a part of its base's."""
    node, number = edge
    if type(node) is Carrier:
        return node.tangent
    if isinstance(node, Tensor):
        leaf, tangent = here.level.leaves.get(id(node), (None, None))
        return tangent if leaf is not None and leaf() is node else None
    found = here.level.tangents.get(node)
    if found is not None or type(node) is not NAMES["as_strided_at"].declaration.node:
        return found and found.get(number)
    whole = node.next_edges[0] and tangent_at(node.next_edges[0])
    if whole is None:
        return None
    geometry, size, start, stride = node.saved_values
    part = outside(lambda: part_of(whole, geometry.start, size, stride, start))
    here.level.tangents[node] = {0: part}
    return part


def outside(function):
    """Call while nothing that is recorded is given a tangent."""
    before, here.pushing = here.pushing, True
    try:
        return function()
    finally:
        here.pushing = before


# ---- memory: a tangent lies as its tensor does


def part_of(tangent, origin, size, stride, start):
    """What a view sees of its base's tangent; `origin` is where the base starts."""
    return NAMES["as_strided_at"](tangent, size, stride, start - origin + offset(tangent.array))


def viewed(tangent, base, view):
    if type(view.origin) is Through and base is view.origin.base:
        return view.origin.again(tangent)
    return part_of(tangent, offset(base.array), *geometry_of(view.array))


def laid_out(tangent, tensor):
    """The tangent itself, or a copy of it that lies in memory as the tensor does."""
    array, other = tensor.array, tangent.array
    if same_layout(array, other) and sign_of(tensor) == sign_of(tangent):
        return tangent
    copy = spread(np.zeros(storage(array).size, other.dtype), array)
    made = tensor_of(copy)
    for bit, step in ((CONJUGATE, "conj"), (NEGATIVE, "neg_view")):
        made = NAMES[step](made) if sign_of(tensor) & bit else made
    return NAMES["copy_"](made, tangent)


def spread(flat, array):
    return strided(flat, *geometry_of(array))


def same_layout(array, other):
    if not array.size or array is other:
        return True
    if storage(array).size != storage(other).size or offset(array) != offset(other):
        return False
    return all(n == 1 or s // array.itemsize == t // other.itemsize for n, s, t in zip(array.shape, array.strides, other.strides))


# ---- ops


def push(node, result):
    """A node was recorded: give its outputs their tangents, and hide it if it needs no gradient."""
    level = here.level
    if level is None or here.pushing:
        return
    tangents = [tangent_at(edge) if edge else None for edge in node.next_edges]
    hidden = [bool(edge) and not edge[0].requires_grad for edge in node.next_edges]
    several = result if isinstance(result, tuple) else (result,)
    outputs = [x for x in several if isinstance(x, Tensor) and x.needs_grad]
    only_forward = not here.records or all([h or not edge for h, edge in zip(hidden, node.next_edges)])
    in_place, level.wrote = level.wrote is node, None
    if any([t is not None for t in tangents]):
        if refused := NO_FORWARD.get(type(node).__name__.partition("Backward")[0]):
            raise NotImplementedError(UNSUPPORTED.format(refused))
        for x, tangent in tangents_through(node, tangents, outputs, several, only_forward):
            outside(lambda x=x, tangent=tangent: settle(x, tangent, tangents[0] if in_place else None, in_place, only_forward))
    elif only_forward:
        for x in outputs:
            x.needs_grad, x.node = False, None
    if not only_forward and True in hidden:
        node.next_edges = tuple([None if h else edge for h, edge in zip(hidden, node.next_edges)])


def settle(x, tangent, old, in_place, only_forward):
    """Give a result its tangent: a view of its base's, or what it was, written in place, or the new one."""
    base = base_of(x)
    if in_place and base is not None:
        whole = base_tangent(base, tangent)
        assign(base, whole, only_forward)
        part = viewed(whole, base, x)
        assign(x, part if part is tangent else NAMES["copy_"](part, tangent), only_forward)
    elif in_place and old is not None:
        assign(x, old if old is tangent else NAMES["copy_"](old, tangent), only_forward)
    else:
        whole = tangent_of(base) if base is not None else None
        assign(x, laid_out(tangent, x) if whole is None else viewed(whole, base, x), only_forward)


def base_of(tensor):
    """The tensor that this one is a view of, as far as tangents go."""
    made = here.level.duals.get(id(tensor))
    return None if tensor.origin is None or made is not None and made() is tensor else tensor.origin.base


def base_tangent(base, tangent):
    """The tangent of what a view was written in: zeros if it had none."""
    before = base.node.next_edges[0] and tangent_at(base.node.next_edges[0])  # the base's node is a CopySlices over what it was
    return before if before is not None else tensor_of(spread(np.zeros(storage(base.array).size, tangent.array.dtype), base.array))


def assign(tensor, tangent, only_forward):
    level = here.level
    if only_forward:
        tensor.node, tensor.output_nr, tensor.needs_grad = Carrier(tensor.array, tangent), 0, True
        level.hidden.append(weakref.ref(tensor))
    else:
        level.tangents.setdefault(tensor.node, {})[tensor.output_nr] = tangent


def tangents_through(node, tangents, outputs, several, only_forward):
    """(output, tangent) of every output of a node that has one; with a graph where one can lead to anything."""
    graph = here.records and (not only_forward or any([t is not None and t.requires_grad for t in tangents]))
    mode = here.grad, here.inference
    enter_mode(True, False)
    try:
        if isinstance(node, BackwardCFunction):
            pairs = outside(lambda: function_tangents(node, tangents, several, only_forward))
        else:
            pairs = list(zip(outputs, outside(lambda: twice_differentiated(node, tangents, outputs, graph))))
    finally:
        enter_mode(*mode)
    return pairs if graph else [(x, t.detach() if t.requires_grad else t) for x, t in pairs]


def twice_differentiated(node, tangents, outputs, graph):
    """The node's gradients are linear in what flows back; the derivative of that, against the tangents, is the forward derivative."""
    dummies = [tensor_of(np.ones(x.array.shape, x.array.dtype)) for x in outputs]
    for dummy in dummies:
        dummy.needs_grad = True
    grads = dummies + [None] * (len(node.output_metas) - len(dummies))
    answers = node.apply(grads, [t is not None for t in tangents])
    pairs = []
    for edge, answer, tangent in zip(node.next_edges, answers, tangents):
        if answer is not None and tangent is not None and answer.requires_grad:
            end, number = edge
            meta = (end.array.shape, end.array.dtype) if isinstance(end, Tensor) else end.output_metas[number]
            pairs.append((fitted(answer, *meta), tangent))
    found = grad([a for a, _ in pairs], dummies, [t for _, t in pairs], True, graph, allow_unused=True) if pairs else [None] * len(dummies)
    return [NAMES["zeros_like"](x) if f is None else unshared(f, tangents) for x, f in zip(outputs, found)]


def unshared(found, tangents):
    """A tangent that no write to another tangent changes."""
    shared = any([t is not None and owner(t.array) is owner(found.array) for t in tangents])
    return NAMES["clone"](found) if shared else found


def function_tangents(node, tangents, outputs, only_forward):
    """What a custom Function's own `jvp` says."""
    if node._forward_cls.jvp is Function.jvp:
        raise NotImplementedError(NO_JVP)
    given: list = [None] * len(node.given)
    for place, tangent in zip(node._tensor_places, tangents):
        given[place] = materialized(tangent, node.given[place], node._materialize)
    versions = [tangent is not None and tangent.counter.version for tangent in given]
    if only_forward:  # outputs have no graph
        node.saved_for_forward = tuple([x.alias() if x is not None and x.node is node else x for x in node.saved_for_forward or ()])
    node.forward_mode = True
    try:
        answers = node._forward_cls.jvp(node, *given)
    finally:
        node.forward_mode = False
    answers = answers if isinstance(answers, tuple) else (answers,)
    if len(answers) != len(outputs):
        raise RuntimeError(COUNT.format(len(outputs), len(answers)))
    for number, (answer, output) in enumerate(zip(answers, outputs)):
        check_answer(number, answer, output, list(zip(node.given, given, versions)))
    return [(x, answer) for x, answer in zip(outputs, answers) if isinstance(x, Tensor) and answer is not None]


def materialized(tangent, primal, wanted):
    """Zeros for a tensor without a tangent, unless the Function does not want them."""
    if tangent is not None or not wanted or primal.array.dtype.kind not in "fc":
        return tangent
    return tensor_of(np.zeros(primal.array.shape, primal.array.dtype))


def check_answer(number, answer, output, given):
    """What may be wrong with a forward gradient that a `jvp` gave."""
    if answer is not None and not isinstance(answer, Tensor):
        if isinstance(output, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(answer).__name__}) for grad output {number}.")
        return
    dirty, version = next(((tangent, version) for primal, tangent, version in given if primal is output), (None, 0))
    if dirty is not None and (dirty is not answer or dirty.counter.version == version):
        raise RuntimeError(NOT_IN_PLACE)
    if not isinstance(output, Tensor):
        return
    if not output.needs_grad:
        if answer is not None:
            raise RuntimeError(NOT_DIFFERENTIABLE.format(number))
    elif answer is None or answer.array.dtype.kind not in "fc":
        raise RuntimeError(NOT_FLOATING)
    else:
        check_size(output, answer)
        if dirty is None and output.origin is not None:
            check_view(answer, output, given)


def check_view(answer, output, given):
    """A view of an input has a view of that input's tangent."""
    base = output.origin.base
    for primal, tangent, _ in given:
        if isinstance(primal, Tensor) and (primal is base or primal.origin is not None and primal.origin.base is base):
            if answer.origin is None:
                raise RuntimeError(NO_VIEW)
            if answer.origin.base is not (tangent if tangent.origin is None else tangent.origin.base):
                raise RuntimeError(OTHER_VIEW if base_of(primal) is None else OTHER_BASE)


def remade(view):
    """A view whose base only carries a tangent carries a part of it."""
    base = view.origin.base
    if type(base.node) is Carrier:
        assign(view, outside(lambda: viewed(base.node.tangent, base, view)), True)


NAMES["remade"] = remade
