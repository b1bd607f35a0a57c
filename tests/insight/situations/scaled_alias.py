import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
g = x.grad
g.mul_(0.5)
# why(x) -> changed afterwards: g.mul_(0.5) on line 5; [2, 4]
