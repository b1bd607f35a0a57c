"""Gradients that do not fit because data was replaced behind the graph's back, and how often gradients count as written."""

a = torch.ones(2, 3, requires_grad=True)


def replaced(function, tensor, data, *inputs, create_graph=False):
    """Put other data into a tensor after the forward, then go back."""
    result = function(tensor).sum()
    tensor.data = data
    attempt(lambda: torch.autograd.grad(result, inputs or (tensor,), create_graph=create_graph))


for graph in (False, True):
    replaced(lambda m: a @ m, torch.ones(3, 4, requires_grad=True), torch.ones(5, 4), a, create_graph=graph)
    replaced(lambda m: (a * 1) @ m, torch.ones(3, 4, requires_grad=True), torch.ones(1, 4), a, create_graph=graph)
    replaced(lambda x: x * x, torch.ones(2, requires_grad=True), torch.ones(3), create_graph=graph)
    t = torch.ones(3, requires_grad=True)
    replaced(lambda w: torch.dot(t, w), torch.ones(3, requires_grad=True), torch.ones(4), t, create_graph=graph)
x = torch.ones(2, requires_grad=True)
y = x.exp().sum()
x.data = torch.ones(5)
y.backward()
print(x.grad, x)


def version(function):
    leaf = torch.ones(2, requires_grad=True)
    function(leaf)
    print(leaf.grad, leaf.grad._version)


version(lambda x: x.sum().backward())
version(lambda x: (x * 2).sum().backward())
version(lambda x: [(x * 2).sum().backward() for _ in range(3)])
version(lambda x: (x * 2 + x * 3 + x * 4).sum().backward())
version(lambda x: x.view(1, 2).exp().sum().backward())
version(lambda x: x.backward(torch.ones(2)))
version(lambda x: (x * 1).backward(torch.ones(2)))
version(lambda x: (x + 1).backward(torch.ones(2)))
version(lambda x: x.clone().backward(torch.ones(2)))
version(lambda x: x.reshape(2, 1).t().sum().backward())
version(lambda x: x.mean().backward())
version(lambda x: x.unsqueeze(0).sum().backward())
version(lambda x: (-x).sum().backward())
version(lambda x: x.expand(3, 2).backward(torch.ones(3, 2)))
version(lambda x: torch.cat([x, x]).exp().sum().backward())
