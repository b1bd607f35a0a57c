import torch
w = torch.tensor([1.0], requires_grad=True)
y = w.expand(4) * 2
y.sum().backward()
# why(w) -> expanded: line 3; ExpandBackward0
