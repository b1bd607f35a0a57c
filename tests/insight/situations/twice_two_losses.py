import torch
w = torch.ones(3, requires_grad=True)
h = torch.exp(w)
loss1 = h.sum()
loss2 = (h ** 2).sum()
loss1.backward()
loss2.backward()
# why(error) -> backward twice: line 7; line 6; line 3; ExpBackward0
