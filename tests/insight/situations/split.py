import torch
x = torch.ones(4, requires_grad=True)
y = x * 2
a, b = y.chunk(2)
a.mul_(3)
# why(error) -> one of several views: line 4; line 5; SplitBackward0
