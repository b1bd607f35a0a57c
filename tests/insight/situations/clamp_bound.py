import torch
x = torch.tensor([0.0, 1.0, 0.5], requires_grad=True)
x.clamp(0, 1).sum().backward()
# why(x) -> at a bound: line 3; ClampBackward1
