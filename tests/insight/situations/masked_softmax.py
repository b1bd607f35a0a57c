import torch
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
mask = torch.tensor([[True, False], [True, True]])
s = x.masked_fill(mask, float("-inf"))
p = torch.softmax(s, dim=1)
p[0, 1].backward()
# why(x) -> zero: line 5; SoftmaxBackward0
