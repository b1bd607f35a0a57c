import torch
a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(2.0, requires_grad=True)
v = torch.tensor([a * 2, b * 3])
v.sum().backward()
# why(error) -> copy: line 4; line 5
