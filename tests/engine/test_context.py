"""`ctx` is the node, and belongs to the user: what one stores on it must not reach the engine."""

import pytest

from gradrepl import torch

NAMES = """tensor_places plain_outputs edges saved versions outputs hooks seen places plain own run checked numbers kept saves shape args
    inputs result check claim fitting keep prefix release unpack""".split()


@pytest.mark.parametrize("name", NAMES)
def test_any_name_may_be_stored(name):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            setattr(ctx, name, factor)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * getattr(ctx, name) * torch.ones_like(x), None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Scale.apply(x, 3.0)
    assert getattr(y.grad_fn, name) == 3.0
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
