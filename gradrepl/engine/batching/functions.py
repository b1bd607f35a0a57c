"""How a Function of the user's is batched: by its own `vmap`, or by one made from its forward and backward. Imports dispatch."""

import contextlib
from typing import NamedTuple

from gradrepl.engine.batching.dispatch import moved
from gradrepl.engine.batching.tensor import BatchedTensor, highest, wrapped
from gradrepl.engine.function import NOTES, Function
from gradrepl.engine.modes import here
from gradrepl.engine.names import NAMES
from gradrepl.engine.tensor import Tensor

TWO_RULES = (
    "You tried to vmap over {}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please set "
    "generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. " + NOTES
)
TWO_RETURNS = (
    "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. Got a {} "
    "instead"
)
INCOMPATIBLE = (
    "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected out_dims={} to be compatible "
    "with the structure of `output`. out_dims has structure {} but output has structure {}. " + NOTES
)


class VmapInfo(NamedTuple):
    """What the `vmap` of a Function is told."""

    batch_size: int
    randomness: str


VmapInfo.__module__ = "torch._functorch.autograd_function"


@contextlib.contextmanager
def mapping(randomness, count):
    """Inside, this thread is one level deeper. Without a count nothing that the function sees is batched there."""
    outer = here.randomness, here.batches
    here.transforms += 1
    here.mapping += 1
    level = here.transforms
    here.batches = (*here.batches, (level, count, randomness))
    if randomness != "same":
        here.randomness = randomness, level, outer[0]
    try:
        yield level
    finally:
        here.transforms -= 1
        here.mapping -= 1
        here.randomness, here.batches = outer


def mapped_function(cls, args):
    """Apply a Function to arguments some of which are batched: the innermost level is taken off."""
    if cls.generate_vmap_rule and cls.vmap is not Function.vmap:
        raise RuntimeError(TWO_RULES.format(cls.__name__))
    level = highest(args)
    count, randomness = next((count, mode) for each, count, mode in here.batches if each == level)
    values, dims = lowered(args, level)
    if cls.generate_vmap_rule:
        return with_generated_rule(cls, values, dims, level, count, randomness)
    result = cls.vmap(VmapInfo(count, randomness), dims, *values)
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(TWO_RETURNS.format(type(result)))
    return raised(*result, level)


def lowered(args, level):
    """What is wrapped at a level, and where its batches are."""
    held = [isinstance(x, BatchedTensor) and x.level == level for x in args]
    return tuple([x.value if h else x for x, h in zip(args, held)]), tuple([x.bdim if h else None for x, h in zip(args, held)])


def raised(output, dims, level):
    """Outputs batched again."""
    several = isinstance(output, tuple)
    outputs = output if several else (output,)
    if isinstance(dims, tuple) != several or several and len(dims) != len(outputs):
        if isinstance(dims, tuple):
            raise RuntimeError(INCOMPATIBLE.format(dims, spec_of(dims), spec_of(output)))
        dims = (dims,) * len(outputs)
    dims = dims if isinstance(dims, tuple) else (dims,)
    made = [x if d is None or not isinstance(x, Tensor) else wrapped(x, d % x.array.ndim, level) for x, d in zip(outputs, dims)]
    return tuple(made) if several else made[0]


def spec_of(value):
    """A nest of one level as a TreeSpec shows it."""
    return f"TreeSpec(tuple, None, [{', '.join('*' * len(value)).replace(', ', f',{chr(10)}  ')}])" if isinstance(value, tuple) else "*"


# ---- a rule made from forward and backward


class Plan(NamedTuple):
    """How one call of a Function is batched: at which level, and where the batches of inputs and outputs are."""

    level: int
    size: int
    randomness: str
    dims: tuple
    places: list


class MappedContext:
    """The `ctx` that a Function sees whose forward and backward run on batched tensors. What it saves goes, unwrapped, to the node."""

    def __init__(self):
        self.__dict__.update(_node=None, _level=0, _dims=())

    @contextlib.contextmanager
    def _of(self, node, level):
        """While the user's code runs: at other times the node is not held, for it holds this."""
        self.__dict__.update(_node=node, _level=level)
        try:
            yield self
        finally:
            self.__dict__["_node"] = None

    needs_input_grad = property(lambda self: self._node.needs_input_grad[1:])

    def save_for_backward(self, *tensors):
        values, self.__dict__["_dims"] = lowered(tensors, self._level)
        self._node.save_for_backward(*values)

    @property
    def saved_tensors(self):
        return tuple([again(x, d, self._level) for x, d in zip(self._node.saved_tensors, self._dims)])

    def mark_dirty(self, *tensors):
        self._node.mark_dirty(*lowered(tensors, self._level)[0])

    def mark_non_differentiable(self, *tensors):
        self._node.mark_non_differentiable(*lowered(tensors, self._level)[0])

    def set_materialize_grads(self, value):
        self._node.set_materialize_grads(value)


def again(x, dim, level):
    return x if dim is None or x is None else wrapped(x, dim, level)


def all_again(values, dims, level):
    return [again(x, d, level) for x, d in zip(values, dims)]


def like_output(values, output):
    """Several results as a tuple, a single one as it is."""
    return tuple(values) if isinstance(output, tuple) else values[0]


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def mapped_class(cls):
    """The batched form of a Function, made once and kept by it."""
    if "_mapped" not in vars(cls):
        cls._mapped = made_class(cls)
    return cls._mapped


def made_class(cls):
    """A Function whose node runs the backward of all examples at once."""

    def forward(plan, *values):
        output = cls.forward(*all_again(values, plan.dims, plan.level))
        found, plan.places[:] = lowered(as_tuple(output), plan.level)
        return like_output(found, output)

    def setup_context(ctx, inputs, output):
        plan, *values = inputs
        ctx.plan, ctx.mapped = plan, MappedContext()
        shown = like_output(all_again(as_tuple(output), plan.places, plan.level), output)
        with ctx.mapped._of(ctx, plan.level) as seen:
            cls.setup_context(seen, tuple(all_again(values, plan.dims, plan.level)), shown)

    def backward(ctx, *grads):
        plan = ctx.plan
        with mapping(plan.randomness, plan.size) as level, ctx.mapped._of(ctx, level) as seen:
            found = as_tuple(cls.backward(seen, *all_again(grads, plan.places, level)))
            return None, *[settled(g, d, level) for g, d in zip(found, plan.dims)]

    methods = dict(forward=forward, setup_context=setup_context, backward=backward)
    body = {name: staticmethod(method) for name, method in methods.items()}
    return type(f"Vmapped{cls.__name__}", (Function,), body | dict(generate_vmap_rule=True, _original=cls))


def with_generated_rule(cls, values, dims, level, count, randomness):
    """Apply the batched form of a Function."""
    plan = Plan(level, count, randomness, dims, [])
    output = mapped_class(cls).apply(plan, *values)
    return like_output(all_again(as_tuple(output), plan.places, level), output)


def settled(gradient, dim, level):
    """The gradient of an input: where that had no batch, summed over the examples."""
    if not (isinstance(gradient, BatchedTensor) and gradient.level == level):
        return gradient
    return gradient.value.sum(gradient.bdim) if dim is None else moved(gradient.value, gradient.bdim, dim)


NAMES["mapped_function"] = mapped_function
