import torch
x = torch.tensor([1.0, 3.0], requires_grad=True)
y = torch.tensor([int(v) for v in x], dtype=torch.float32)
s = torch.tensor(1.0, requires_grad=True)
(y * s).sum().backward()
# why(x) -> copy: line 3
