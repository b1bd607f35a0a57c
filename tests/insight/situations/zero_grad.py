import torch
w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
opt = torch.optim.SGD([w], lr=0.1)
loss = (w ** 2).sum()
loss.backward()
opt.step()
opt.zero_grad()
# why(w) -> cleared: line 7; line 5
