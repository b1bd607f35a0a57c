"""With the collector off nothing is left behind, and long chains need no stack."""

import gc
import threading
import weakref

import pytest

from gradrepl import torch
from gradrepl.engine.node import Node
from gradrepl.engine.tensor import Tensor


def left_behind(step):
    """How many tensors and nodes a step leaves, with the garbage collector off; the first runs fill caches."""
    step(), step()
    gc.collect()
    gc.disable()
    try:
        before = alive()
        for _ in range(3):
            step()
        return alive() - before
    finally:
        gc.enable()


def alive():
    return sum(isinstance(x, (Tensor, Node)) for x in gc.get_objects())


def leaf():
    return torch.ones(2, 3, requires_grad=True)


def training():
    w, b = leaf(), torch.zeros(3, requires_grad=True)
    for _ in range(3):
        loss = ((torch.ones(4, 2) @ w + b).tanh() ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.1)
        w.grad = b.grad = None


def twice():
    x = leaf()
    (g,) = torch.autograd.grad((x.exp() * x.sigmoid()).sum(), x, create_graph=True)
    (g * g).sum().backward()


def writes():
    x = leaf() * 2
    x[0].mul_(3.0)
    v = x.view(-1)
    v[2:] = 0
    x.exp_()
    (v.sum() + x.sum()).backward()


def hooks():
    x = leaf()
    y = x.tanh()
    handles = [y.register_hook(lambda g: g * 2), y.grad_fn.register_hook(lambda a, b: None), y.grad_fn.register_prehook(lambda g: None)]
    y.retain_grad()
    x.register_post_accumulate_grad_hook(lambda p: None)
    y.sum().backward()
    for handle in handles:
        handle.remove()


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1]


def functions():
    x = leaf()
    y = Exp.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()


def looked_at():
    y = (leaf() * 2).sum()
    assert y.grad_fn.next_functions[0][0].next_functions[0][0].variable is not None
    y.backward()


def transforms():
    torch.func.hessian(lambda x: (x**3).sum())(torch.ones(2))
    torch.func.vmap(torch.func.grad(lambda x: x.sin().sum()))(torch.ones(2, 2))


class Mapped(Exp):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)


def mapped():
    x = leaf()
    torch.vmap(Mapped.apply)(x).sum().backward()
    torch.vmap(lambda v: v.mode()[0] * torch.rand(1), randomness="different")(x)
    torch.autograd.grad(x * 2, x, torch.ones(4, 2, 3), is_grads_batched=True)


def forward_mode():
    with torch.autograd.forward_ad.dual_level():
        d = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        (d.exp() * d).sum()


def anomalies():
    with torch.autograd.set_detect_anomaly(True):
        leaf().exp().sum().backward()


def failing():
    y = leaf().exp()
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError):
        z.sum().backward()


STEPS = [training, twice, writes, hooks, functions, looked_at, transforms, mapped, forward_mode, anomalies, failing]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_nothing_is_left_behind(step):
    assert left_behind(step) == 0


def test_saved_tensors_go_with_their_graph():
    x = leaf()
    y = x.exp()
    array = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert array() is None
    finally:
        gc.enable()


def test_a_long_chain_is_recorded_run_and_freed_without_recursion():
    x = torch.ones(1, requires_grad=True)

    def work():
        y = x
        for _ in range(300_000):
            y = y + 0.0
        y.backward()
        del y

    small = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(small)
    assert x.grad.item() == 1


def test_backwards_within_backwards_do_not_run_out_of_stack():
    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.inner = torch.ones(1, requires_grad=True) * 1
                ctx.x = (x.detach() - 1).requires_grad_()
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x < 0:
                return g
            with torch.enable_grad():
                Deep.apply(ctx.x).sum().backward()
            return g

    x = torch.tensor(2000.0, requires_grad=True)
    Deep.apply(x).sum().backward()
    assert x.grad.item() == 1


def test_gradients_from_several_threads_add_up():
    x = torch.ones(3, requires_grad=True)
    threads = [threading.Thread(target=lambda: (x * 2).sum().backward()) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [16.0, 16.0, 16.0]
