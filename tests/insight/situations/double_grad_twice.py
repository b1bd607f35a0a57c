import torch
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
g, = torch.autograd.grad(y, x)
h, = torch.autograd.grad(g, x)
# why(error) -> no create_graph: line 4; line 5
