import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
d = torch.tensor([0.0, 1.0], requires_grad=True)
loss = (x / d).sum()
loss.backward()
# why(x) -> not finite: line 4; DivBackward0
