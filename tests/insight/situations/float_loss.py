import torch
w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum().item()
loss.backward()
# why(error) -> not a tensor: line 3; line 4
