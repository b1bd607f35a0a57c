import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
loss = (h * h).sum()
h.detach_()
loss.backward()
# why(error) -> detached in place: line 5; line 6
