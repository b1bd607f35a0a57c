"""A layer of LSTM is one node: its saved values, which gradients it gives, and its derivative differentiated again."""

import torch


def walk(node, depth=0):
    if node is not None and depth < 7:
        print(" " * depth + type(node).__name__)
        for following, _ in node.next_functions:
            walk(following, depth + 1)


torch.manual_seed(0)
layer, x = torch.nn.LSTM(3, 4), torch.randn(5, 2, 3)
output, (h, c) = layer(x)
for name in dir(output.grad_fn):
    if name.startswith("_saved"):
        value = getattr(output.grad_fn, name)
        if name == "_saved_result3":
            print(name, value.dtype, value.dim())
        elif isinstance(value, torch.Tensor):
            print(name, value.shape, value.dtype, value.requires_grad)
        else:
            print(name, value)
print(output, h, c, output.stride(), h.stride())
for steps in (1, 2):
    x = torch.randn(steps, 2, 3, requires_grad=True)
    parameters = list(layer.parameters())
    for grad in torch.autograd.grad((layer(x)[0] ** 2).sum(), [x, *parameters], create_graph=True):
        walk(grad.grad_fn)
        print("--")
for options in ({}, dict(bidirectional=True), dict(bias=False), dict(num_layers=2, batch_first=True)):
    print(options)
    torch.manual_seed(1)
    layer, x = torch.nn.LSTM(3, 4, **options), torch.randn(5, 2, 3, requires_grad=True)
    output, (h, c) = layer(x)
    loss = (output * output).sum() + h.sum() + (c * c * c).sum()
    grads = torch.autograd.grad(loss, [x, *layer.parameters()], create_graph=True)
    print([type(grad.grad_fn).__name__ for grad in grads], grads[:3])
    print([grad.sum() for grad in torch.autograd.grad(sum((grad * grad).sum() for grad in grads), [x, *layer.parameters()])])
    output, (h, c) = layer(x)
    output.grad_fn.register_hook(lambda of_inputs, of_outputs: print([grad is None for grad in of_inputs]))
    c.sum().backward()
    print(x.grad)
    next(layer.parameters()).requires_grad_(False)
    layer(x.detach())[0].sum().backward()
    print([p.grad if p.grad is None else p.grad.norm() for p in layer.parameters()])
with torch.no_grad():
    print(layer(x)[0].grad_fn)
output = layer(x)[0]
with torch.no_grad():
    layer.weight_hh_l0.add_(1)
try:
    output.sum().backward()
except RuntimeError as error:
    print(error)
