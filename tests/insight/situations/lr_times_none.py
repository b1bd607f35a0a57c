import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
lr = 0.1
for step in range(2):
    loss = (w ** 2).sum()
    loss.backward()
    w = w - lr * w.grad
# why(error) -> name rebound: line 7; SubBackward0
