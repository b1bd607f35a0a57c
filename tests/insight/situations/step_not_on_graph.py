import torch
w = torch.tensor([1.0], requires_grad=True)
scale = torch.tensor([2.0])
scale.requires_grad_(False)
loss = (w.detach().requires_grad_() * scale).sum()
loss.backward()
# why(w) -> detach: line 5; MulBackward0
