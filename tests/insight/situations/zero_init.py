import torch
x = torch.tensor([[1.0, 2.0]])
w1 = torch.ones(2, 2, requires_grad=True)
w2 = torch.zeros(2, 1, requires_grad=True)
h = torch.tanh(x @ w1)
loss = ((h @ w2 - 1) ** 2).mean()
loss.backward()
# why(w1) -> zero: line 6; MmBackward0
