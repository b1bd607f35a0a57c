import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x ** 2
z = y * y
y[0] = 0
z.sum().backward()
# why(error) -> saved tensor modified: line 5; line 4; MulBackward0
