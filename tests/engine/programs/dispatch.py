"""Modes that see every operation below autograd, answer some, and stand within one another."""

import collections
import importlib

Mode, aten = torch.utils._python_dispatch.TorchDispatchMode, torch.ops.aten


class Telling(Mode):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        node = torch._C._current_autograd_node()
        print(self.name, func, [x for x in args if isinstance(x, (int, float, list))], "in", node and node.name())
        return func(*args, **kwargs or {})


class Answering(Mode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func == aten.mul.Tensor:
            return torch.zeros(2, 3)
        if func in {aten.exp.default}:
            return torch.full_like(args[0], 7.0)
        return func(*args, **kwargs or {})


class Counting(Mode):
    def __init__(self):
        super().__init__()
        self.counts = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counts[str(func)] = self.counts.get(str(func), 0) + 1
        return func(*args, **kwargs or {})


x = torch.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], requires_grad=True)
w = torch.ones(3, 3)
with Telling("one"):
    y = x.mul(2).div(3).sum()
    y.backward()
print(x.grad)
with Telling("one"):
    z = (w @ x.t()).abs().sum(0)
    w.add_(1).sub_(1)
    w.view(9), w.t(), w[0], w.sin_(), w.pow(2), w > 1, w == w, w.max(0), w.mean(), torch.stack([w, w]), w.unsqueeze(0), w.sum([0, 1], True)
print(z.grad_fn.name(), z.requires_grad)
with Telling("outer"), Telling("inner"):
    x * 2
    with torch.utils._python_dispatch._disable_current_modes():
        x * 3
with Answering():
    a, b = x * 2, x.exp()
print(a, b)
print(torch.autograd.grad(b.sum(), x))
counting = Counting()
with counting:
    for _ in range(3):
        (x.sin() + x.sin()).cos()
print(sorted(counting.counts.items()))
with torch.no_grad(), Telling("nothing recorded"):
    print((x + 1).requires_grad)
try:
    with Telling("left by an error"):
        raise ValueError
except ValueError:
    print(torch.utils._python_dispatch._get_current_dispatch_mode())
print(x * 2)


class Showing(Mode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func, [tuple(x.shape) if isinstance(x, torch.Tensor) else x for x in args], kwargs)
        return func(*args, **kwargs or {})


index, picked, c = torch.tensor([1, 0]), x.detach() > 0, torch.ones(2, 3)
with Showing():
    x[index], x[:, index], x[picked], x.index_select(0, index)
    torch.add(x, x, alpha=2), torch.sub(x, 1, alpha=3), torch.div(x, 2, rounding_mode="floor"), torch.addmm(x, x, w, alpha=2)
    x.double(), x.to(torch.float16), x.var(), c.std(1), torch.softmax(c, 1), torch.log_softmax(c, 0)
    torch.ones(2, 3), torch.zeros((2,)), torch.full((2,), 7.0), torch.empty(2), torch.arange(3), torch.eye(2)
    kept, number, truth = x.detach(), x[0, 0].item(), bool(x[1, 1] > 0)
    c.fill_(2), c.zero_(), c.copy_(x.detach()), c.roll(1, 0)
print(kept.requires_grad, number, truth)
print(x.detach().requires_grad, x[0, 0].item())


# what a stretch of program takes
flops = importlib.import_module(f"{torch.__spec__.name}.utils.flop_counter").FlopCounterMode
layers = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(5, 2)))
with flops(display=False) as count:
    layers(x)
print(
    count.get_total_flops(), [(name, {str(op): n for op, n in counts.items()}) for name, counts in sorted(count.get_flop_counts().items())]
)
with flops(display=False) as count:
    (x @ w).mm(x.t()).sum().backward()
    torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 4, 5))
    torch.nn.functional.conv2d(torch.ones(2, 2, 5, 5), torch.ones(3, 2, 3, 3), stride=2)
    torch.nn.functional.conv_transpose1d(torch.ones(1, 2, 5), torch.ones(2, 3, 3))
print(count.get_total_flops(), {str(op): n for op, n in count.get_flop_counts()["Global"].items()})

# checkpoints that keep some results
util = torch.utils.checkpoint
Policy, contexts = util.CheckpointPolicy, util.create_selective_checkpoint_contexts


class Products(Mode):
    number = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.number += func == aten.mm.default
        return func(*args, **kwargs or {})


def twice(x, w):
    return torch.tanh(x.matmul(w).matmul(w)) * x


def keep_products(ctx, op, *args, **kwargs):
    assert not ctx.is_recompute
    return Policy.MUST_SAVE if op == aten.mm.default else Policy.PREFER_RECOMPUTE


w.requires_grad_()
plain = torch.autograd.grad(twice(x, w).sum(), [x, w])
for policy in (
    [aten.mm.default],
    keep_products,
    lambda ctx, op, *args, **kwargs: False,
    lambda ctx, op, *args, **kwargs: Policy.PREFER_SAVE,
):
    out = util.checkpoint(twice, x, w, use_reentrant=False, context_fn=lambda policy=policy: contexts(policy)).sum()
    with Products() as products:
        found = torch.autograd.grad(out, [x, w], retain_graph=True)
    print(products.number, all(map(torch.allclose, found, plain)))
    attempt(lambda: torch.autograd.grad(out, x) and None)
for wrong in ([aten.mm], [3], 4):
    attempt(lambda: contexts(wrong))


# what was kept may not be written, unless that is allowed; nor may it be asked for once more
def doubled_in_place(x):
    return x.sin().mul_(2).cos()


for kept in (aten.sin.default, aten.mul_.Tensor):
    for allowed in (False, True):
        out = util.checkpoint(
            doubled_in_place, x, use_reentrant=False, context_fn=lambda: contexts([kept], allow_cache_entry_mutation=allowed)
        )
        attempt(lambda: torch.autograd.grad(out.sum(), x)[0].shape)
storage = collections.defaultdict(dict)
modes = util._CachingTorchDispatchMode(keep_products, storage), util._CachedTorchDispatchMode(keep_products, storage)
out = util.checkpoint(twice, x, w, use_reentrant=False, context_fn=lambda: modes)
print({str(op): len(entries) for op, entries in storage.items()})
out.sum().backward(retain_graph=True)
attempt(lambda: out.sum().backward())


class Refusing(Mode):
    calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls += 1
        raise RuntimeError("no")


with Refusing() as refusing:
    attempt(lambda: torch.ones(2).add_(1))
print(refusing.calls)
