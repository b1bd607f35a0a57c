import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 2).sum()
w = torch.tensor([3.0, 4.0], requires_grad=True)
loss.backward()
# why(w) -> name rebound: line 4
