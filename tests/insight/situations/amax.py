import torch
x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
x.max().backward()
# why(x) -> ties: line 3; MaxBackward1
