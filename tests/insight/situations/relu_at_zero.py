import torch
x = torch.tensor([0.0, -1.0, 1.0], requires_grad=True)
torch.relu(x).sum().backward()
# why(x) -> zero: line 3; ReluBackward0
