import torch
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 1.0], requires_grad=True)
torch.maximum(a, b).sum().backward()
# why(a) -> ties: line 4; MaximumBackward0
