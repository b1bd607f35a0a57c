import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
norm = w.norm().item()
loss = norm * b
loss.backward()
# why(w) -> number: line 4; MulBackward0
