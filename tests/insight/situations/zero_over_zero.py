import torch
x = torch.tensor([0.0, 2.0], requires_grad=True)
y = (x / x).sum()
y.backward()
# why(x) -> not finite: line 3; DivBackward0
