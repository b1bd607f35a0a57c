import torch
w = torch.randn(3, requires_grad=True) * 0.1
opt = torch.optim.SGD([w], lr=0.1)
# why(error) -> non-leaf in an optimizer: line 2; MulBackward0
