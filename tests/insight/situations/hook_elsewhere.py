import torch
b = torch.tensor([1.0], requires_grad=True)
b.register_hook(lambda g: g * 3)
b.sum().backward()
other = torch.tensor([2.0], requires_grad=True)
other.register_hook(lambda g: g * 1)
other.sum().backward()
# why(b) -> hook: (set on line 3); [1] became [3]
