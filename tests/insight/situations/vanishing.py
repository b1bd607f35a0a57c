import torch
w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(50.0) * w
for _ in range(5):
    h = torch.sigmoid(h * 20)
h.backward()
# why(w) -> zero: line 5; SigmoidBackward0
