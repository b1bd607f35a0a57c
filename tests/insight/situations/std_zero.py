import torch
x = torch.full((3,), 2.0, requires_grad=True)
x.std().backward()
# why(x) -> zero: line 3; StdBackward0
