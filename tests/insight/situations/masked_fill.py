import torch
x = torch.tensor([1.0, 5.0, 3.0], requires_grad=True)
y = x.masked_fill(x > 2, 0.0)
y.sum().backward()
# why(x) -> zero: line 3; MaskedFillBackward0
