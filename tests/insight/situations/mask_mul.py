import torch
x = torch.tensor([0.0, 2.0], requires_grad=True)
mask = torch.tensor([0.0, 1.0])
y = (mask * torch.log(x + 0)).sum()
y.backward()
# why(x) -> masked in forward only: line 4; LogBackward0
