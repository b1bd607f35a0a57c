import torch
w = torch.tensor([3.0, 4.0], requires_grad=True)
(w ** 2).sum().backward()
g = w.grad
g.zero_()
# why(w) -> cleared: line 5
