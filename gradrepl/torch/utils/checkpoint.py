"""torch.utils.checkpoint: intermediate values computed anew in backward instead of kept."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib
import warnings

from gradrepl import torch
from gradrepl.engine.function import Function
from gradrepl.engine.running import current_run
from gradrepl.torch.autograd.graph import saved_tensors_hooks

IMPLICIT = (
    "{}: the use_reentrant parameter should be passed explicitly. {}use_reentrant=False is recommended, but if you need to preserve the "
    "current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)
IMPLICIT_ONE = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. "
IMPLICIT_MANY = "In version 2.9 we will raise an exception if use_reentrant is not passed. "
NOT_WITH_GRAD = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). To "
    "resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument."
)


class CheckpointError(RuntimeError):
    """The second run did not do what the first did."""


@contextlib.contextmanager
def same_draws(state):
    """Random numbers as they were; afterwards as they are."""
    if state is None:
        yield
        return
    now = torch.get_rng_state()
    torch.set_rng_state(state)
    try:
        yield
    finally:
        torch.set_rng_state(now)


def detach_variable(inputs):
    """The inputs as leaves of another graph."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    made = []
    for value in inputs:
        if isinstance(value, torch.Tensor):
            made.append(value.detach().requires_grad_(value.requires_grad))
        else:
            made.append(value)
    return tuple(made)


class CheckpointFunction(Function):
    """Runs without recording; backward runs once more with recording, and goes back through that."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        if not any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)
        ctx.run_function, ctx.random_state = run_function, torch.get_rng_state() if preserve_rng_state else None
        ctx.tensor_indices = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.inputs = [None if i in ctx.tensor_indices else arg for i, arg in enumerate(args)]
        ctx.save_for_backward(*[args[i] for i in ctx.tensor_indices])
        with torch.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        running = current_run()  # none when the node is called by hand
        if running and running.targets is not None:
            raise RuntimeError(NOT_WITH_GRAD)
        inputs = list(ctx.inputs)
        for place, tensor in zip(ctx.tensor_indices, ctx.saved_tensors):
            inputs[place] = tensor
        leaves = detach_variable(tuple(inputs))
        with same_draws(ctx.random_state), torch.enable_grad():
            outputs = ctx.run_function(*leaves)
        outputs = (outputs,) if isinstance(outputs, torch.Tensor) else outputs
        pairs = [(out, grad) for out, grad in zip(outputs, grads) if isinstance(out, torch.Tensor) and out.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward(*zip(*pairs))
        return None, None, *[leaf.grad if isinstance(leaf, torch.Tensor) else None for leaf in leaves]


CheckpointFunction.__module__ = "torch.utils.checkpoint"


class Frame:
    """One checkpointed call: what it saved is only counted; the first value asked for in backward brings all of them."""

    def __init__(self, function, args, kwargs, state):
        self.function, self.args, self.kwargs, self.state = function, args, kwargs, state
        self.count, self.found, self.taken = 0, None, 0

    def pack(self, tensor):
        self.count += 1
        return self.count - 1

    def unpack(self, place):
        if self.found is None:
            self.found, self.taken = self.recomputed(), 0
        if len(self.found) != self.count:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {self.count}\nNumber of tensors saved during recomputation: {len(self.found)}."
            )
        tensor, self.taken = self.found[place], self.taken + 1
        if self.taken == self.count:
            self.found = None
        return tensor

    def recomputed(self):
        saved: list = []

        def keep(tensor):
            saved.append(tensor.detach())
            return len(saved) - 1

        with same_draws(self.state), torch.enable_grad(), saved_tensors_hooks(keep, lambda place: saved[place]):
            self.function(*self.args, **self.kwargs)
        return saved


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=None,
    determinism_check="default",
    debug=False,
    early_stop=True,
    preserve_rng_state=True,
    **kwargs,
):
    """Run a function without keeping its intermediate values; backward computes them anew."""
    if use_reentrant is None:
        warnings.warn(IMPLICIT.format("torch.utils.checkpoint", IMPLICIT_ONE), stacklevel=2)
        use_reentrant = True
    if kwargs and use_reentrant:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant:
        if context_fn is not None or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    first, _ = context_fn() if context_fn is not None else (contextlib.nullcontext(), None)
    frame = Frame(function, args, kwargs, torch.get_rng_state() if preserve_rng_state else None)
    with first, saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Checkpoint a sequence of layers in segments, all but the last."""
    if use_reentrant is None:
        warnings.warn(IMPLICIT.format("torch.utils.checkpoint.checkpoint_sequential", IMPLICIT_MANY), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions.children()) if isinstance(functions, torch.nn.Sequential) else list(functions)
    size, end = len(layers) // segments, -1

    def run(part):
        def forward(input):
            for layer in part:
                input = layer(input)
            return input

        return forward

    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(run(layers[start : end + 1]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(layers[end + 1 :])(input)
