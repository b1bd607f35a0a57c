import torch
x = torch.tensor([2.0, 0.5, -3.0], requires_grad=True)
y = x.clamp(0, 1)
y.sum().backward()
# why(x) -> zero: line 3; ClampBackward1
