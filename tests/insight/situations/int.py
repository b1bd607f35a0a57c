import torch
x = torch.tensor([1, 2, 3])
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(x * w).sum().backward()
# why(x) -> dtype: 
