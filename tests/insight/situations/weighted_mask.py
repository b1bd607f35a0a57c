import torch
x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
w = (x > 0).float()
loss = (w / x).sum()
loss.backward()
# why(x) -> not finite: line 4; DivBackward0
