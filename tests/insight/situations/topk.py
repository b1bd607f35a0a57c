import torch
x = torch.tensor([1.0, 5.0, 3.0], requires_grad=True)
v, i = x.topk(2)
v.sum().backward()
# why(x) -> zero: line 3; TopkBackward0
