import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = (x ** 2).sum()
first = x[0]
g, = torch.autograd.grad(y, first)
# why(error) -> not in the graph: line 4; SelectBackward0
