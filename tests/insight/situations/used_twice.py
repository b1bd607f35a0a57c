import torch
x = torch.tensor(3.0, requires_grad=True)
a = x ** 2
b = 5 * x
y = a + b
y.backward()
# why(x) -> used several times: MulBackward0
