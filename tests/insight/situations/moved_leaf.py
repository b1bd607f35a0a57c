import torch
w = torch.ones(3, requires_grad=True)
w = w.to(torch.float64)
loss = (w * 2).sum()
loss.backward()
# why(w) -> name rebound: line 3; ToCopyBackward0
