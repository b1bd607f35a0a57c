import torch
a = torch.ones(3, requires_grad=True)
b = torch.ones(4)
c = a + b
# why(error) -> shapes: line 4
