import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
out = []
h = w
for i in range(3):
    h = torch.tanh(h)
    out.append(h.detach())
loss = torch.stack(out).sum() + (w * 0).sum().detach()
bias = torch.tensor(0.0, requires_grad=True)
loss = loss + bias
loss.backward()
# why(w) -> detach: line 7; AddBackward0
