import torch
x = torch.tensor([1.0, -2.0], requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
(torch.sign(x) * w).sum().backward()
# why(x) -> zero: line 4; SignBackward0
