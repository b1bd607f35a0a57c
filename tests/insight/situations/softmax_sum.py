import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
p = torch.softmax(x, dim=0)
loss = p.sum()
loss.backward()
# why(x) -> zero: line 3; SoftmaxBackward0
