import torch
data = torch.tensor([1.0, float("nan"), 3.0])
w = torch.ones(3, requires_grad=True)
loss = ((w * data) ** 2).mean()
loss.backward()
# why(w) -> not finite: line 4; MulBackward0
