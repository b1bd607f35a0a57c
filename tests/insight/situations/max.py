import torch
x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
m, i = x.max(dim=0)
m.backward()
# why(x) -> zero: line 3; MaxBackward0
