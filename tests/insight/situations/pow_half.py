import torch
x = torch.tensor([0.0, 4.0], requires_grad=True)
y = (x ** 0.5).sum()
y.backward()
# why(x) -> not finite: line 3; PowBackward0
