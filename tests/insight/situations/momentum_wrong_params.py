import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
copy = w.clone()
loss = (copy ** 2).sum()
w = torch.zeros(2, requires_grad=True)
loss.backward()
# why(w) -> name rebound: line 5
