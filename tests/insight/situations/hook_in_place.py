import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_hook(lambda g: [g.mul_(0.5), None][1])
(w * 4).sum().backward()
# why(w) -> hook: line 3
