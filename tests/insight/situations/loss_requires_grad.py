import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
pred = (w > 1.5).float()
loss = (pred - 1).abs().mean()
loss.requires_grad = True
loss.backward()
# why(w) -> comparison: line 3
