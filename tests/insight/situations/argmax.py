import torch
w = torch.tensor([1.0, 5.0, 2.0], requires_grad=True)
scale = torch.tensor(2.0, requires_grad=True)
best = w.argmax()
loss = (best - scale) ** 2
loss.backward()
# why(w) -> index: line 4; SubBackward0
