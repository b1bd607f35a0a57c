import torch
x = torch.tensor([100.0, 1.0], requires_grad=True)
y = torch.exp(x)
loss = (y / y.sum())[0]
loss.backward()
# why(x) -> not finite: line 3; ExpBackward0
