import torch
x = torch.tensor([1.0, -2.0], requires_grad=True)
y = torch.exp(x)
z = torch.relu_(y)
z.sum().backward()
# why(error) -> saved tensor modified: line 4; line 3; ExpBackward0
