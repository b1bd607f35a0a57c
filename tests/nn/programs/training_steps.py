"""What a training step leaves behind: the graph, the versions of parameters, gradients and state, special values, hooks."""

import torch
from torch import nn

F = nn.functional


def chain(node, depth=0):
    if node is not None:
        print("  " * depth + type(node).__name__)
        for following, _ in node.next_functions:
            chain(following, depth + 1)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2, bias=False), nn.ReLU(inplace=True), nn.Linear(2, 1))
x, y = torch.randn(5, 3), torch.randn(5, 1)
loss = F.mse_loss(model(x), y)
chain(loss.grad_fn)
print(loss.grad_fn._saved_self.shape, loss.grad_fn._saved_target is y, loss.grad_fn._saved_reduction)
loss.backward()
print([p.grad for p in model.parameters()])
chain(nn.Linear(3, 2)(torch.randn(2, 4, 3)).grad_fn)
chain(nn.Linear(3, 2)(torch.randn(3)).grad_fn)

print("special values")
x = torch.tensor([float("nan"), float("inf"), -1.0, 0.0, 2.0], requires_grad=True)
for function in (F.relu, lambda t: F.threshold(t, 1.0, 7.0)):
    result = function(x)
    print(result, torch.autograd.grad(result.sum(), x)[0])
    print(torch.autograd.grad(function(x), x, torch.tensor([1.0, float("nan"), float("inf"), float("inf"), -0.0]))[0])
for shape, dim in (((3, 1), 1), ((1, 3), 0), ((1, 1), (0, 1))):
    x = torch.ones(shape)
    for total in (x.sum(dim), x.sum(dim, keepdim=True), x.mean(dim)):
        total.add_(1)
    print(x.flatten(), x._version)

print("optimizers")
OPTIONS = [
    (torch.optim.SGD, {}),
    (torch.optim.SGD, dict(weight_decay=0.1, maximize=True)),
    (torch.optim.SGD, dict(momentum=0.9, weight_decay=0.1)),
    (torch.optim.SGD, dict(momentum=0.9, dampening=0.5, maximize=True)),
    (torch.optim.SGD, dict(momentum=0.9, nesterov=True)),
    (torch.optim.SGD, dict(lr=torch.tensor(0.2))),
    (torch.optim.Adam, {}),
    (torch.optim.Adam, dict(weight_decay=0.1, amsgrad=True)),
    (torch.optim.Adam, dict(maximize=True, decoupled_weight_decay=True, weight_decay=0.1)),
    (torch.optim.AdamW, dict(amsgrad=True, betas=(0.5, 0.7), eps=1e-3)),
    (torch.optim.RMSprop, dict(weight_decay=0.1)),
    (torch.optim.RMSprop, dict(centered=True, momentum=0.9)),
    (torch.optim.Adagrad, dict(lr_decay=0.1)),
    (torch.optim.NAdam, {}),
    (torch.optim.Adadelta, {}),
    (torch.optim.Adamax, {}),
    (torch.optim.Adamax, dict(weight_decay=0.1, maximize=True)),
    (torch.optim.RAdam, dict(betas=(0.5, 0.6))),
    (torch.optim.RAdam, dict(weight_decay=0.1, decoupled_weight_decay=True, betas=(0.9, 0.3))),
]
for kind, options in OPTIONS:
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(1)
        parameters = [torch.randn(2, 3, dtype=dtype, requires_grad=True), torch.randn((), dtype=dtype, requires_grad=True)]
        parameters.append(torch.randn(3, 2, dtype=dtype).t().requires_grad_())
        optimizer = kind(parameters, **{"lr": 0.1, **options})
        for _ in range(4):
            optimizer.zero_grad()
            sum((p.sin() * (i + 1)).sum() for i, p in enumerate(parameters)).backward()
            kept = parameters[0].grad.clone()
            optimizer.step()
            print(bool((kept == parameters[0].grad).all()), parameters[0].grad._version)
        print(kind.__name__, options, [p.detach() for p in parameters])
        print([p._version for p in parameters], [p.stride() for p in parameters], all(p.is_leaf for p in parameters))
        for name, value in optimizer.state.get(parameters[2], {}).items():
            if isinstance(value, torch.Tensor):
                print(name, value, value._version, value.stride(), value.dtype)
            else:
                print(name, value)
