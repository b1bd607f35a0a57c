import torch
x = torch.tensor([0.0, 2.0], requires_grad=True)
y = (x ** 0).sum()
y.backward()
# why(x) -> zero: line 3; PowBackward0
