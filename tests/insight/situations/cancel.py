import torch
x = torch.ones(2, requires_grad=True)
y = (x - x * 1).sum()
y.backward()
# why(x) -> cancelled: SubBackward0
