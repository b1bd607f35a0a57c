import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x ** 2
loss = y.sum()
x.data.mul_(10)
loss.backward()
# why(x) -> changed through .data: line 5
