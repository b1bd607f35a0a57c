import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
losses = []
for x in (1.0, 2.0):
    losses.append((w * x).sum())
loss = torch.tensor([l.item() for l in losses], requires_grad=True).sum()
loss.backward()
# why(w) -> copy: line 6
