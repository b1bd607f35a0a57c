import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
g = x.grad
g.fill_(0)
# why(x) -> cleared: g.fill_(0) on line 5; it was [2, 4]
