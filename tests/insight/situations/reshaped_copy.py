import torch
x = torch.ones(2, 3, requires_grad=True)
y = x * 2
flat = y.t().reshape(-1)
flat.mul_(0)
y.sum().backward()
# why(x) -> write into a copy: line 4; line 5
