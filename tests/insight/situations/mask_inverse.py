import torch
x = torch.tensor([0.0, 2.0], requires_grad=True)
mask = x != 0
y = torch.where(mask, 1 / x, torch.zeros(2))
y.sum().backward()
# why(x) -> masked in forward only: line 4; ReciprocalBackward0
