import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([1.0, 2.0], requires_grad=True)
first = (v * 2).sum()
second = (w * 3).sum()
first.backward()
# why(w) -> no backward: line 6; second
