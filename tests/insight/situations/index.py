import torch
x = torch.ones(4, requires_grad=True)
y = x[1:3] * 2
y.sum().backward()
# why(x) -> zero: line 3; SliceBackward0
