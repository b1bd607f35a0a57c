import torch
w = torch.tensor([0.3, 0.7], requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
hard = (w > 0.5).float()
loss = ((hard - b) ** 2).sum()
loss.backward()
# why(w) -> comparison: line 4; SubBackward0
