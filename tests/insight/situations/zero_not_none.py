import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
loss = (w ** 2).sum()
loss.backward()
opt.step()
opt.zero_grad(set_to_none=False)
# why(w) -> cleared: line 7
