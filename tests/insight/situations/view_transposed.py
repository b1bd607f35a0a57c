import torch
x = torch.ones(2, 3, requires_grad=True)
y = x.t().view(6)
# why(error) -> not contiguous: line 3
