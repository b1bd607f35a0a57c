"""Checkpoints that run their function once more in backward, alone, nested, and where only some gradients are asked for."""

import torch
from torch.utils.checkpoint import checkpoint


def gradient(function, **options):
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    checkpoint(function, x, **options).sum().backward()
    return x.grad


for reentrant in (True, False):
    inner = lambda x, reentrant=reentrant: checkpoint(torch.exp, x, use_reentrant=reentrant) * 2
    print(gradient(torch.exp, use_reentrant=reentrant))
    print(gradient(inner, use_reentrant=reentrant))

x, w = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0], requires_grad=True)
out, extra = checkpoint(lambda n, x, w: (n * x * w, 7), 2, x, w, use_reentrant=True)
print(out, extra)
out.sum().backward()
print(x.grad, w.grad)

for ask in (lambda y: torch.autograd.grad(y.sum(), w), lambda y: y.sum().backward(inputs=[w])):
    try:
        ask(checkpoint(torch.exp, w, use_reentrant=True))
    except RuntimeError as error:
        print(error)
