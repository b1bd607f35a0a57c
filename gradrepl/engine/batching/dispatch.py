"""From an op that met a batched tensor to the op's rule, and the way without a rule: slice by slice. Imports tensor and the engine."""

import numpy as np

from gradrepl.engine.advice import warn
from gradrepl.engine.batching.tensor import BatchedTensor, highest, wrapped
from gradrepl.engine.declare import DECLARED
from gradrepl.engine.modes import here
from gradrepl.engine.names import NAMES
from gradrepl.engine.recorder import NOTHING
from gradrepl.engine.tensor import Batched, Tensor

IMPOSSIBLE = (
    "vmap: {0}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`. "
    "This happened due to `other` being vmapped over but `self` not being vmapped over {1}. Please try to use out-of-place operators "
    "instead of {0}. If said operator is being called inside the PyTorch framework, please file a bug report instead."
)
ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
    "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in `gen_vmap_plumbing` Please file "
    "an issue if it looks like the latter"
)
DIFFERENT = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is necessary "
    "for your usage, please file an issue with functorch."
)
SLOW = (
    "There is a performance drop because we have not yet implemented the batching rule for aten::{}. Please file us an issue on GitHub so "
    "that we can prioritize its implementation. (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/functorch/BatchedFallback.cpp:82.)"
)
# what PyTorch has no rule for either, and warns of; the name of the overload
UNRULED = dict(
    take="take", put_op="put_", masked_fill_tensor="masked_fill.Tensor", histc="histc", bincount="bincount", renorm="renorm",
    quantile="quantile.scalar", vander="vander", isclose="isclose", multi_margin_loss="multi_margin_loss", bilinear="bilinear",
    pdist_forward="pdist", _scaled_dot_product_flash_attention_for_cpu="_scaled_dot_product_flash_attention_for_cpu",
    nanquantile="nanquantile.scalar",
)  # fmt: skip
UNRULED_IN_PLACE = dict(
    clamp_numbers="clamp_", clamp_tensors="clamp_.Tensor", lerp_scalar="lerp_.Scalar", lerp_tensor="lerp_.Tensor", addcmul="addcmul_",
    addcdiv="addcdiv_", scatter_src="scatter_.src", scatter_value="scatter_.value", index_copy="index_copy_", pow_tensor="pow_.Tensor",
    remainder_tensor="remainder_.Tensor", remainder_scalar="remainder_.Scalar", fmod_tensor="fmod_.Tensor", fmod_scalar="fmod_.Scalar",
    hypot="hypot_", floor_divided="floor_divide_.Tensor", cumsum_dim="cumsum_", cumprod_dim="cumprod_", tril="tril_", triu="triu_",
    addmm_op="addmm_", addmv_op="addmv_", addr_op="addr_", baddbmm_op="baddbmm_", addbmm_op="addbmm_", ge_tensor="ge_.Tensor",
    gt_tensor="gt_.Tensor", le_tensor="le_.Tensor", lt_tensor="lt_.Tensor", eq_tensor="eq_.Tensor", ne_tensor="ne_.Tensor",
    renorm="renorm_", put_op="put_", masked_fill_tensor="masked_fill_.Tensor",
)  # fmt: skip
RULES: dict = {}  # the name of an op, or of a public function, -> its rule: rule(call, *args, **named) gives the result, batched again


class Call:
    """One call of an op or of a function on its way through a level."""

    __slots__ = ("name", "function", "in_place", "level", "size")

    def __init__(self, name, function, in_place, level, size):
        self.name, self.function, self.in_place, self.level, self.size = name, function, in_place, level, size

    def holds(self, x):
        """Whether a value is batched at this level."""
        return isinstance(x, BatchedTensor) and x.level == self.level

    def value(self, x):
        return x.value if self.holds(x) else x

    def bdim(self, x):
        return x.bdim if self.holds(x) else None

    def front(self, x):
        """The value with the batch first, where it has one."""
        return moved(x.value, x.bdim, 0) if self.holds(x) else x

    def full(self, x):
        """The value with the batch first, repeated where it has none."""
        return self.front(x) if self.holds(x) else NAMES["expand_sizes"](x, (self.size, *x.array.shape))

    def padded(self, x, rank):
        """The value with the batch first, and ones behind it up to a rank."""
        if not self.holds(x):
            return x
        value, missing = self.front(x), rank - x.array.ndim
        shape = value.array.shape
        return NAMES["view_sizes"](value, (shape[0], *(1,) * missing, *shape[1:])) if missing > 0 else value

    def wrap(self, value, bdim=0):
        if isinstance(value, Tensor):
            return wrapped(value, bdim, self.level)
        if isinstance(value, (tuple, list)):
            parts = [self.wrap(x, bdim) for x in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value


def moved(value, source, target):
    """One dimension moved to another place, as a permutation where that is a change."""
    if source == target:
        return value
    dims = [n for n in range(value.array.ndim) if n != source]
    dims.insert(target, source)
    return NAMES["permute_dims"](value, tuple(dims))


def batched(name, variant, args):
    """What the recorder of an op calls when one of its tensors is batched."""
    args = [None if x is NOTHING else x for x in args]
    return call_of(name, DECLARED[name].functions[variant], variant.endswith("_"), args, {})


def call_of(name, function, in_place, args, named):
    """Take the innermost level off by the rule of the op, or without one slice by slice."""
    tensors = (*args, *named.values())
    level = highest(tensors)
    if level and not any(each == level for each, *_ in here.batches):
        raise RuntimeError(ESCAPED)
    if level:
        size = next(x.value.array.shape[x.bdim] for x in flat(tensors) if isinstance(x, BatchedTensor) and x.level == level)
    else:  # who draws random numbers is here without a batched tensor
        level = here.randomness[1]
        size = next(size for each, size, _ in here.batches if each == level)
        if in_place:
            raise RuntimeError(DIFFERENT)
    call = Call(name, function, in_place, level, size)
    rule = by_slices if in_place and name in UNRULED_IN_PLACE else RULES.get(name, by_slices)
    if in_place and not call.holds(args[0]):
        if here.run is not None:  # a formula writes where only one example has room
            raise Batched
        warn_of(call)
        raise RuntimeError(refused(call, args))
    result = rule(call, *args, **named)
    return args[0] if in_place else result


def refused(call, args):
    """What is said where the examples are to be written over one another."""
    if call.name not in BROADCASTING:
        return IMPOSSIBLE.format(*UNBATCHED.get(call.name, ("inplace arithmetic", "in a vmap")))
    shape = np.broadcast_shapes(*[x.array.shape for x in args if isinstance(x, Tensor)])
    return f"output with shape {list(args[0].array.shape)} doesn't match the broadcast shape {[call.size, *shape]}"


BROADCASTING = {"add", "atan2", "copysign_tensor", "bitwise_and_arrays", "bitwise_or_arrays", "bitwise_xor_arrays"}
UNBATCHED = {
    **{name: ("fill_", "in a vmap") for name in ("fill_tensor", "fill_by")},
    **{name: (f"{shown}_", "in a vmap") for name, shown in dict(
        index_put="index_put", scatter_add="scatter_add", index_add_op="index_add", index_fill_number="index_fill",
        index_fill_tensor="index_fill").items()},
    **{name: (f"aten::{shown}_", "at level 1") for name, shown in dict(
        pow_tensor="pow", clamp_tensors="clamp", addcmul="addcmul", addcdiv="addcdiv", lerp_scalar="lerp", lerp_tensor="lerp",
        scatter_src="scatter", index_copy="index_copy", remainder_tensor="remainder", fmod_tensor="fmod", hypot="hypot", ge_tensor="ge",
        gt_tensor="gt", lt_tensor="lt", le_tensor="le", eq_tensor="eq", ne_tensor="ne", floor_divided="floor_divide",
        addmm_op="addmm", addmv_op="addmv", addr_op="addr", baddbmm_op="baddbmm").items()},
}  # fmt: skip


def flat(values):
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from flat(value)
        elif isinstance(value, dict):
            yield from flat(value.values())
        else:
            yield value


# ---- without a rule


def by_slices(call, *args, **named):
    """Run the function on every example, and stack what it gives."""
    warn_of(call)
    if call.in_place:
        return written_by_slices(call, *args, **named)
    fronts = fronted(call, args), fronted(call, named)
    rows = [call.function(*picked(fronts[0], n), **picked(fronts[1], n)) for n in range(max(call.size, 1))]
    return stacked(call, rows)


def warn_of(call):
    """PyTorch's advice where it goes slice by slice too."""
    unruled = (UNRULED_IN_PLACE if call.in_place else UNRULED).get(call.name)
    if unruled and here.run is None:
        warn(SLOW.format(unruled))


def written_by_slices(call, self, *args, **named):
    """The same in place: what is written stays a part of the whole."""
    fronts = fronted(call, args), fronted(call, named)
    for n in range(call.size):
        call.function(NAMES["select_at"](self.value, self.bdim, n), *picked(fronts[0], n), **picked(fronts[1], n))


class Front:
    """A batched value, with the batch first, about to be cut up."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def fronted(call, value):
    if isinstance(value, dict):
        return {key: fronted(call, x) for key, x in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([fronted(call, x) for x in value])
    return Front(ordered(call, value)) if call.holds(value) else value


def ordered(call, tensor):
    """As PyTorch's own way without a rule begins: by a permutation, even one that changes nothing."""
    dims = [n for n in range(tensor.value.array.ndim) if n != tensor.bdim]
    return NAMES["permute_dims"](tensor.value, (tensor.bdim, *dims))


def picked(value, n):
    if isinstance(value, dict):
        return {key: picked(x, n) for key, x in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([picked(x, n) for x in value])
    if not isinstance(value, Front):
        return value
    empty = not value.value.array.shape[0]
    return zeros_of(value.value) if empty else NAMES["select_at"](value.value, 0, n)


def zeros_of(value):
    return NAMES["tensor_of"](np.zeros(value.array.shape[1:], value.array.dtype))


def stacked(call, rows):
    """The results of all examples as one, batched."""
    first = rows[0]
    if isinstance(first, (tuple, list)):
        parts = [stacked(call, list(column)) for column in zip(*rows)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if not isinstance(first, Tensor):
        return first
    result = NAMES["stack_op"](list(rows), 0)
    result = NAMES["view_sizes"](result, result.array.shape)
    return call.wrap(result if call.size else NAMES["slice_dim"](result, 0, 0, 0, 1))


def applied_by_slices(node, grads, mask):
    """The gradients of a node whose formulas ask for values: example by example."""

    def function(*grads):
        return tuple(node.apply(list(grads), mask))

    return call_of(type(node).__name__, function, False, grads, {})


NAMES.update(batched=batched, applied_by_slices=applied_by_slices)
