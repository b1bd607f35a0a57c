import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 1
d = y.detach()
d.zero_()
loss = (y ** 2).sum()
loss.backward()
# why(x) -> alias written: line 4; line 5
