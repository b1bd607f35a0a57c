import torch
w = torch.ones(3, requires_grad=True)
w.register_hook(lambda g: g.sum())
(w * 2).sum().backward()
# why(error) -> result of a hook: line 3; line 4
