import torch
x = torch.tensor([1.0, 2.0])
loss = (x ** 2).sum()
loss.backward()
# why(error) -> nothing requires grad: line 4
