import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x ** 3).sum()
g = torch.autograd.grad(y, x)
h = torch.autograd.grad(y, x)
# why(error) -> backward twice: line 5; line 4; PowBackward0
