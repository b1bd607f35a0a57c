import torch
w = torch.randn(3, requires_grad=True) * 0.1
loss = (w ** 2).sum()
loss.backward()
# why(w) -> copy of the leaf: line 2; MulBackward0
