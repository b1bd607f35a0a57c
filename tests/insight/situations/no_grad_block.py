import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([0.5, 0.5], requires_grad=True)
with torch.no_grad():
    h = w * 3
loss = (h + b).sum()
loss.backward()
# why(w) -> no_grad: line 5; AddBackward0
