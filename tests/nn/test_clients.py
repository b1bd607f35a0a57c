"""Libraries that know only PyTorch, on the embedded engine."""

import subprocess
import sys
import textwrap

import pytest


def run(program):
    text = "import gradrepl\ngradrepl.use_embedded_torch()\nimport torch\n" + textwrap.dedent(program)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def test_einops():
    pytest.importorskip("einops")
    assert run(
        """
        from einops import rearrange, reduce, repeat
        from einops.layers.torch import Rearrange
        x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
        y = rearrange(x, "b c (h w) -> b (c h) w", h=2)
        print(y.shape, reduce(x, "b c l -> b", "sum"), repeat(x[0, 0], "l -> r l", r=2).shape)
        y.pow(2).sum().backward()
        print(torch.equal(x.grad, 2 * x), Rearrange("b c l -> b (c l)")(x).shape)
        """
    ) == ("torch.Size([2, 6, 2]) tensor([ 66., 210.], grad_fn=<SumBackward1>) torch.Size([2, 4])\nTrue torch.Size([2, 12])\n")


def test_opt_einsum():
    pytest.importorskip("opt_einsum")
    assert (
        run(
            """
        import opt_einsum
        a, b, c = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4), torch.ones(4, 5)
        y = opt_einsum.contract("ij,jk,kl->il", a, b, c)
        y.sum().backward()
        print(y.shape, float(y.sum()), a.grad)
        """
        )
        == "torch.Size([2, 5]) 120.0 tensor([[20., 20., 20.],\n        [20., 20., 20.]])\n"
    )


def test_torchviz():
    pytest.importorskip("torchviz")
    found = run(
        """
        from torchviz import make_dot
        m = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        print(make_dot(m(torch.ones(1, 2)), params=dict(m.named_parameters())).source)
        """
    )
    for text in ("AddmmBackward0", "TanhBackward0", "AccumulateGrad", "0.weight", "2.bias"):
        assert text in found
