import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * w).sum().backward()
g = w.grad
(w * 3).sum().backward()
# why(g) -> a gradient itself: line 4; line 3; line 5
