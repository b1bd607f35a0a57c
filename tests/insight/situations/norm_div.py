import torch
v = torch.zeros(3, requires_grad=True)
unit = v / v.norm()
unit.sum().backward()
# why(v) -> not finite: line 3; DivBackward0
