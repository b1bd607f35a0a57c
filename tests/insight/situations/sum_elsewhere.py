import torch
x = torch.ones(2, requires_grad=True)
loss = (x * 3).sum()
loss.backward()
w = torch.ones(1, requires_grad=True)
w.prod().backward()
# why(x) -> sum or mean: loss is (x * 3).sum() (line 3)
