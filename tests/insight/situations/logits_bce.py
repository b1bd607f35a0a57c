import torch
p = torch.tensor([1.0, 0.3], requires_grad=True)
t = torch.tensor([0.0, 1.0])
loss = -(t * p.log() + (1 - t) * (1 - p).log()).mean()
loss.backward()
# why(p) -> not finite: line 4; LogBackward0
