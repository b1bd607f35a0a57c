import torch
w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
v = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
opt = torch.optim.SGD([w, v], lr=0.1)
out = w * v
loss1 = out.sum()
loss2 = (out ** 2).sum()
loss1.backward(retain_graph=True)
opt.step()
loss2.backward()
# why(error) -> saved tensor modified: line 9; line 5; MulBackward0
