import torch
logits = torch.tensor([[1.0, 2.0], [3.0, 0.0]], requires_grad=True)
target = torch.tensor([1, 1])
pred = logits.argmax(dim=1)
loss = (pred != target).float().mean()
loss.backward()
# why(error) -> index: line 4; line 6
