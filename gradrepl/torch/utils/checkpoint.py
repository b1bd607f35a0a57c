"""torch.utils.checkpoint: intermediate values computed anew in backward instead of kept."""

__name__ = __name__.removeprefix("gradrepl.")

import collections
import contextlib
import importlib
import threading
import warnings
import weakref

from gradrepl import torch
from gradrepl.engine.function import Function
from gradrepl.engine.keeping import make_saved_tensor
from gradrepl.engine.names import listen, unlisten
from gradrepl.engine.running import current_run, run_number
from gradrepl.engine.saved import SavedTensor
from gradrepl.torch.autograd.graph import saved_tensors_hooks
from gradrepl.torch.utils._checkpoint_errors import LOGGED, MORE, OTHER_NUMBER, OTHER_TENSORS, OVERLAP, TIP, TWICE

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


class _Stop(Exception):
    """Ends a recomputation: all that was asked for is there."""


class _Holder:
    """What a graph keeps instead of a tensor; for each backward, the ticket under which it finds the tensor that was computed anew."""

    def __init__(self):
        self.tickets = {}


class _Ticket:
    """Lets a recomputed tensor go with whom it is for."""


class Frame:
    """One checkpointed call: which tensors it saved, and those of each recomputation."""

    def __init__(self, again, early_stop, describe, failed):
        self.again, self.early_stop, self.describe, self.failed = again, early_stop, describe, failed
        self.inputs, self.holders, self.descriptions = [], [], []
        self.counts, self.found, self.done = collections.Counter(), collections.defaultdict(weakref.WeakKeyDictionary), set()
        self.complete = self.uneven = False  # the forward is over; a backward inside it saw fewer tensors than there are now

    def keep_inputs(self, *inputs):
        self.inputs = [make_saved_tensor(x, False) if isinstance(x, torch.Tensor) else x for x in inputs]

    def pack(self, tensor):
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        with torch.no_grad():
            self.descriptions.append(self.describe(tensor))
        return holder

    def unpack(self, holder):
        try:
            return self.recomputed(holder)
        except CheckpointError as error:
            if self.failed is None:
                raise
            raise CheckpointError(self.failed()) from error

    def recomputed(self, holder):
        group = GraphExecGroup._get_current_group()
        run = group if group is not None else run_number() if run_number() != -1 else object()
        if run not in self.done:
            inputs = [x.unpack() if isinstance(x, SavedTensor) else x for x in self.inputs]
            with contextlib.suppress(_Stop), Recomputation(weakref.ref(self), run), torch.enable_grad():
                self.again(*inputs)
            self.done.add(run)
            self.check(run)
        ticket = holder.tickets[run]
        if ticket is None:
            raise CheckpointError(TWICE.format(OVERLAP if group is not None else ""))
        holder.tickets[run] = None
        return self.found[run][ticket]

    def check(self, run):
        """Whether the same tensors were saved again."""
        if self.uneven:
            return
        if len(self.holders) != self.counts[run]:
            raise CheckpointError(OTHER_NUMBER.format(len(self.holders), self.counts[run]) + TIP)
        wrong = ""
        for place, (reference, before) in enumerate(zip(self.holders, self.descriptions)):
            holder = reference()
            now = before if holder is None else self.describe(self.found[run][holder.tickets[run]])
            if now != before:
                wrong += f"tensor at position {place}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
        if wrong:
            raise CheckpointError(OTHER_TENSORS.format(wrong) + TIP)


class Recomputation(saved_tensors_hooks):
    """Catches what a recomputation saves, for those who hold on to it."""

    def __init__(self, frame, run):
        def pack(tensor):
            return caught(frame(), run, tensor.detach() if tensor.requires_grad else tensor)

        super().__init__(pack, lambda tensor: tensor)


def caught(frame, run, tensor):
    place = frame.counts[run]
    frame.counts[run] += 1
    if place >= len(frame.holders):
        if frame.complete:
            raise CheckpointError(MORE + TIP)
        frame.uneven = True
        return tensor
    holder = frame.holders[place]()
    if holder is not None:
        ticket = holder.tickets[run] = _Ticket()
        frame.found[run][ticket] = tensor
    if frame.early_stop and frame.counts[run] == len(frame.holders):
        raise _Stop
    return tensor


class GraphExecGroup:
    """Backwards in one group, which must not overlap, compute a checkpointed call anew at most once between them."""

    _here = threading.local()

    def __enter__(self):
        if self._get_current_group() is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {self._get_current_group()}")
        self._here.group = self
        return self

    def __exit__(self, *args):
        self._here.group = None

    @classmethod
    def _get_current_group(cls):
        return getattr(cls._here, "group", None)


class _Setting:
    """What was set for all checkpointed calls: None lets each say for itself."""

    early_stop = debug = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Whether recomputations in the calls made inside `with` stop as soon as they can, whatever those say."""
    before, _Setting.early_stop = _Setting.early_stop, enable
    try:
        yield
    finally:
        _Setting.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Whether the calls made inside `with` log their operations for error messages, whatever they say."""
    before, _Setting.debug = _Setting.debug, enabled
    try:
        yield
    finally:
        _Setting.debug = before


class Log:
    """The operations that are recorded inside `with`, as lines."""

    def __init__(self):
        self.lines = []

    def heard(self, node, result):
        shapes = ", ".join(f"{dtype}{list(shape)}" for shape, dtype in filter(None, node.output_metas))
        self.lines.append(f"${len(self.lines)}: {shapes} = {node.name()}")

    def __enter__(self):
        listen("watch", self.heard)

    def __exit__(self, *args):
        unlisten("watch", self.heard)

    def traces(self, label):
        return "\n\n".join(f"{line}   ({i + 1} of {len(self.lines)} in {label})" for i, line in enumerate(self.lines))


def logging_contexts():
    """Contexts for the forward and for its recomputation, and the message about both."""
    first, again = Log(), Log()

    def message():
        return LOGGED.format(first.traces("original"), again.traces("recompute"), "\n".join(first.lines), "\n".join(again.lines))

    return (first, again), message


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


CHECKS = {"default": lambda x: {"shape": x.shape, "dtype": x.dtype, "device": x.device}, "none": lambda x: None}


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    early_stop=True,
    **kwargs,
):
    """Run a function without keeping its intermediate values; backward computes them anew."""
    if use_reentrant is None:
        warnings.warn(IMPLICIT.format("torch.utils.checkpoint", IMPLICIT_ONE), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs and use_reentrant:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant:
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    failed = None
    if debug if _Setting.debug is None else _Setting.debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        contexts, failed = logging_contexts()
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}")
    (first, second) = contexts if failed else context_fn()
    early_stop = early_stop if _Setting.early_stop is None else _Setting.early_stop
    return without_reentry(function, args, kwargs, preserve, first, second, early_stop, CHECKS[determinism_check], failed)


def without_reentry(function, args, kwargs, preserve, first, second, early_stop, describe, failed):
    state = torch.get_rng_state() if preserve else None

    def again(kwargs, *args):
        with same_draws(state), second:
            function(*args, **kwargs)

    frame = Frame(again, early_stop, describe, failed)
    frame.keep_inputs(kwargs, *args)
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        result = function(*args, **kwargs)
    frame.complete = True
    return result


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


_SELECTIVE = {
    *("CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"),
    *("_CachingTorchDispatchMode", "_CachedTorchDispatchMode"),
}


def __getattr__(name):
    if name not in _SELECTIVE:
        raise AttributeError(f"module 'torch.utils.checkpoint' has no attribute {name!r}")
    return getattr(importlib.import_module("gradrepl.torch.utils._selective"), name)
