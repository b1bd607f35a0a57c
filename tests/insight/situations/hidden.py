import torch
w = torch.tensor(0.5, requires_grad=True)
h = torch.zeros(1)
for t in range(3):
    h = torch.tanh(w * h + 1)
    loss = (h - 1).pow(2).sum()
    loss.backward()
# why(error) -> backward twice: line 7; line 5; TanhBackward0
