import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
@torch.no_grad()
def features(v):
    return torch.tanh(v * 2)
loss = (features(w) * b).sum()
loss.backward()
# why(w) -> no_grad: line 6; MulBackward0
