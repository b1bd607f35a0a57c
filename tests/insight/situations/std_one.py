import torch
x = torch.tensor([2.0], requires_grad=True)
x.std().backward()
# why(x) -> not finite: line 3; StdBackward0
