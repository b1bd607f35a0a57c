import torch
w = torch.zeros(3, requires_grad=True)
w[0] = 1.0
# why(error) -> leaf written in place: line 3
