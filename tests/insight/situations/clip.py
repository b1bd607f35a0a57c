import torch
w = torch.tensor([3.0, 4.0], requires_grad=True)
(w ** 2).sum().backward()
torch.nn.utils.clip_grad_norm_([w], 1.0)
# why(w) -> changed afterwards: line 4
