"""Every digit: updates and sums that PyTorch's kernels round once."""

import torch
from torch import optim

torch.manual_seed(5)
a, b, c = torch.randn(3, 7)
for result in (
    torch.add(a, b, alpha=0.1),
    torch.sub(a, b, alpha=0.3),
    torch.rsub(a, b, alpha=0.7),
    torch.addcmul(a, b, c),
    torch.addcmul(a, b, c, value=0.3),
    torch.lerp(a, b, 0.1),
    torch.lerp(a, b, 0.9),
    torch.lerp(a, b, c.abs()),
    a.clone().add_(b, alpha=-0.01),
    torch.add(a, b.half(), alpha=0.1),
):
    print(result.tolist())

large = torch.linspace(-1, 1, 40000)
print(torch.add(large, large.cos(), alpha=0.1)[::5000].tolist())
for make in (
    lambda p: optim.SGD(p, 0.01),
    lambda p: optim.SGD(p, 0.01, momentum=0.9, nesterov=True, weight_decay=0.1),
    lambda p: optim.Adam(p, 0.1),
    lambda p: optim.AdamW(p, 0.1),
    lambda p: optim.RMSprop(p, 0.01, centered=True),
    lambda p: optim.Adagrad(p, 0.1),
    lambda p: optim.Adadelta(p),
    lambda p: optim.NAdam(p, 0.01),
):
    small, wide = torch.tensor([1.0, -2.0, 0.3], requires_grad=True), torch.linspace(-1, 1, 40000).requires_grad_()
    optimizer = make([small, wide])
    for _ in range(4):
        optimizer.zero_grad()
        loss = (small**3).sum() ** 2 + (wide * wide * wide / 3).sum()
        loss.backward()
        optimizer.step()
    print(type(optimizer).__name__, small.tolist(), wide[::9000].tolist())
    print([(name, value.tolist()) for name, value in optimizer.state[small].items() if torch.is_tensor(value)])
