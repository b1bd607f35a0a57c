import torch
x = torch.tensor([200.0, -300.0], requires_grad=True)
y = torch.sigmoid(x)
loss = ((y - 0.5) ** 2).sum()
loss.backward()
# why(x) -> zero: line 3; SigmoidBackward0
