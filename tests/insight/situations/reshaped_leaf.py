import torch
w = torch.ones(4, requires_grad=True)
w = w.reshape(2, 2)
loss = (w * 2).sum()
loss.backward()
# why(w) -> name rebound: line 3; ViewBackward0
