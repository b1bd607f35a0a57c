import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
y.requires_grad = False
# why(error) -> requires_grad of a non-leaf: line 3; line 4; MulBackward0
