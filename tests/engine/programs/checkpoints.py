"""Checkpointed calls: how often they run, what they refuse, and graphs inside graphs; writes to what was saved; final callbacks."""

import contextlib

module = torch.utils.checkpoint

checkpoint = module.checkpoint
graph = torch.autograd.graph
runs = []


def block(x):
    runs.append(1)
    return x.sin().cos().exp()


def count(function):
    runs.clear()
    value = function()
    print(len(runs), value)


def message(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, "|", str(error).split("\nTip")[0])


def leaf():
    return torch.tensor([0.5, 1.5], requires_grad=True)


def backward(*early, **options):
    x = leaf()
    with contextlib.ExitStack() as stack:
        for enable in early:
            stack.enter_context(module.set_checkpoint_early_stop(enable))
        y = checkpoint(lambda x: block(x).clone(), x, use_reentrant=False, **options)
    y.sum().backward()
    return x.grad


count(backward)
count(lambda: backward(early_stop=False))
count(lambda: backward(False))
count(lambda: backward(False, True, early_stop=False))

x = leaf()
y = checkpoint(block, x, use_reentrant=False)
count(lambda: y.grad_fn._saved_result)
count(lambda: torch.autograd.grad(y.sum(), x, retain_graph=True))
count(lambda: torch.autograd.grad(y.sum(), x))
message(lambda: y.grad_fn._saved_result)


def changing(first, second):
    """A function that is another one from its second run on."""
    calls = []

    def run(x):
        calls.append(1)
        return first(x) if len(calls) == 1 else second(x)

    return run


def three(x):
    return x.sin().exp().sin()


def two(x):
    return x.sin().exp()


def wide(x):
    return x.sin() * torch.ones(3, 2)


def mismatch(first, second, **options):
    x = leaf()
    message(lambda: checkpoint(changing(first, second), x, use_reentrant=False, **options).sum().backward())
    print(x.grad)


mismatch(three, two)
mismatch(two, three)
with module.set_checkpoint_early_stop(False):
    mismatch(two, three)
mismatch(two, wide)
mismatch(two, wide, determinism_check="none")
mismatch(two, two, determinism_check="some")
message(lambda: checkpoint(two, leaf(), use_reentrant=True, debug=True))
message(lambda: checkpoint(two, leaf(), use_reentrant=False, debug=True, context_fn=lambda: (None, None)))
message(lambda: checkpoint(two, leaf(), use_reentrant=True, wrong=1))


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        print([saved is other for saved in ctx.saved_tensors])
        message(lambda: ctx.saved_tensors)
        return grad, None


other = torch.ones(2)
checkpoint(Twice.apply, leaf(), other, use_reentrant=False).sum().backward()


def slope(function):
    def run(x):
        with torch.enable_grad():
            return torch.autograd.grad(function(x).sum(), x, create_graph=True)[0]

    return run


def checkpointed(function):
    return lambda *args: checkpoint(function, *args, use_reentrant=False)


for early in (True, False):
    with module.set_checkpoint_early_stop(early):
        count(lambda: slope(slope(block))(leaf()))
        count(lambda: slope(checkpointed(slope(block)))(leaf()))
        count(lambda: checkpointed(slope(slope(checkpointed(block))))(leaf()))
        count(lambda: slope(checkpointed(slope(checkpointed(block))))(leaf()))

x = leaf()
y, z = checkpoint(lambda x: (block(x), block(x)), x, use_reentrant=False)
with module.GraphExecGroup():
    count(lambda: torch.autograd.grad(z.sum(), x, retain_graph=True))
    count(lambda: torch.autograd.grad(y.sum(), x, retain_graph=True))
    message(lambda: torch.autograd.grad(y.sum(), x))
    message(lambda: type(module.GraphExecGroup().__enter__()))


# ---- writes to what was saved


def sizes(context):
    return len(list(context.cloned.items())), len(list(context.tid_to_weakhandle.items()))


def written():
    x = leaf()
    y = x * 1
    out = (y**2).sum()
    y.sin_()
    out.backward()
    return x.grad


message(written)
with graph.allow_mutation_on_saved_tensors() as context:
    message(written)
    print(sizes(context))
    y = leaf() * 1
    first, second = y**2, y**2
    print(sizes(context))
    y.sin_()
    third = y**3
    y.mul_(2)
    print(sizes(context)[0])
    del first, second
    print(sizes(context)[0])
    message(lambda: graph.allow_mutation_on_saved_tensors().__enter__())
    outside = leaf().exp().sum()
message(lambda: outside.backward())
print(sizes(context))


# ---- what a backward calls when it is over


def later(name, then=None):
    def call():
        print("called", name, torch.is_grad_enabled())
        if then:
            then()

    return lambda: engine.queue_callback(call)


class Queues(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name):
        ctx.name = name
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        later(ctx.name, later(ctx.name + " then"))()
        if ctx.name == "outer":
            with torch.enable_grad():
                Queues.apply(leaf(), "inner").sum().backward()
        print("passed", ctx.name)
        return grad, None


engine = torch.autograd.Variable._execution_engine
message(lambda: engine.queue_callback(print))
Queues.apply(leaf(), "outer").sum().backward()
handle = torch._C._autograd._make_saved_tensor(x, is_output=False)
print(handle.unpack() is x, handle.data is x, handle.unpack_hook)
with graph.saved_tensors_hooks(lambda saved: saved * 2, lambda packed: packed + 1):
    handle = torch._C._autograd._make_saved_tensor(x, is_output=False)
    print(handle.unpack(), handle.data)
message(lambda: torch.autograd.SavedTensor())
print(torch._C._autograd._saved_tensors_hooks_is_enabled())
with graph.disable_saved_tensors_hooks("not now"):
    print(torch._C._autograd._saved_tensors_hooks_is_enabled())
print(torch.ops.aten.exp.default, torch.ops.aten.add.Tensor(x, 1), torch.ops.aten.exp.default.__name__)
gradcheck = torch.autograd.gradcheck

print(callable(gradcheck))


# ---- results that are kept


def keeps_sines(context, operation, *args, **kwargs):
    return module.CheckpointPolicy.MUST_SAVE if operation == torch.ops.aten.sin.default else module.CheckpointPolicy.PREFER_RECOMPUTE


def keeping(function, **options):
    def contexts():
        return module.create_selective_checkpoint_contexts(keeps_sines, **options)

    x = leaf()
    y = checkpoint(function, x, use_reentrant=False, context_fn=contexts)
    y.sum().backward(retain_graph=True)
    print(x.grad)
    return y


message(lambda: keeping(lambda x: x.sin().mul_(2).cos().exp()).grad_fn)
message(lambda: type(keeping(lambda x: x.sin().mul_(2).cos().exp(), allow_cache_entry_mutation=True)))
y = keeping(lambda x: x.sin().cos().exp())
message(lambda: y.sum().backward())
