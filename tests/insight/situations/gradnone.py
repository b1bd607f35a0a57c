import torch
w = torch.ones(3, requires_grad=True)
loss = (w ** 2).sum()
with torch.no_grad():
    w -= 0.1 * w.grad
# why(error) -> no backward: line 5
