import torch
a = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
loss = torch.min(a, b)
loss.backward()
# why(a) -> zero: line 4; MinimumBackward0
