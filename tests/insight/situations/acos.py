import torch
x = torch.tensor([1.0, 0.5], requires_grad=True)
torch.acos(x).sum().backward()
# why(x) -> not finite: line 3; AcosBackward0
