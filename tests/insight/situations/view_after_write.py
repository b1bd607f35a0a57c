import torch
x = torch.ones(4, requires_grad=True)
y = x.exp()
a = y[:2]
a.add_(1)
y.sum().backward()
# why(error) -> saved tensor modified: line 5; line 3; ExpBackward0
