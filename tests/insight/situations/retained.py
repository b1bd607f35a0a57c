import torch
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.retain_grad()
y = torch.relu(h)
y.sum().backward()
# why(h) -> zero: line 5; ReluBackward0
