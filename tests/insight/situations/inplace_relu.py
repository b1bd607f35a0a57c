import torch
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 2
y = torch.nn.functional.relu(h, inplace=True)
(y * h).sum().backward()
# why(x) -> zero: line 5; MulBackward0
