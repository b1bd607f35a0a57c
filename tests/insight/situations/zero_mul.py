import torch
x = torch.tensor([3.0, 1.0], requires_grad=True)
gate = torch.tensor([0.0, 1.0])
(x * gate).sum().backward()
# why(x) -> zero: line 4; MulBackward0
