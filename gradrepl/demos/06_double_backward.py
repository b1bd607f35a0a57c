# The derivative of a derivative
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
# create_graph=True records backward as well, so the gradient has a graph of its own.
g, = torch.autograd.grad(y, x, create_graph=True)
g
tree(g)
# Which can be differentiated in turn: 6x.
torch.autograd.grad(g, x)
# check() compares first and second derivatives with numeric differences.
check(lambda t: t ** 3, torch.tensor(2.0, dtype=torch.float64, requires_grad=True), order=2)
