import torch
x = torch.tensor([0.0], requires_grad=True)
y = torch.tensor([0.0], requires_grad=True)
torch.atan2(x, y).sum().backward()
# why(x) -> zero: line 4; Atan2Backward0
