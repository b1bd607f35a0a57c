import torch
x = torch.tensor([0.0, 1.0], requires_grad=True)
n = torch.sqrt(x) * x
n.sum().backward()
# why(x) -> masked in forward only: line 3; SqrtBackward0
