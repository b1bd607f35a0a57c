import torch
x = torch.tensor([[1.0], [2.0], [3.0]])
y = torch.tensor([2.0, 4.0, 6.0])
w = torch.tensor([[2.0]], requires_grad=True)
pred = x @ w
loss = ((pred - y) ** 2).mean()
loss.backward()
# why(w) -> broadcast: line 6; SubBackward0
