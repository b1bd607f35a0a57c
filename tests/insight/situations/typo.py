import torch
x = torch.tensor([1.0, 2.0])
w = torch.tensor([1.0, 2.0], requires_grad=True)
x.require_grad = True
loss = (x * w).sum()
loss.backward()
# why(x) -> misspelt: 
