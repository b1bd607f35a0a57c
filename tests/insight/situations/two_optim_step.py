import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
out = (w * w).exp()
out.sum().backward(retain_graph=True)
with torch.no_grad():
    w.sub_(0.1 * w.grad)
out.mean().backward()
# why(error) -> saved tensor modified: line 6; line 3; MulBackward0
