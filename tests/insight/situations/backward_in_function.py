import torch
def train():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h = w.detach() * 2
    v = torch.ones(2, requires_grad=True)
    loss = (h * v).sum()
    loss.backward()
    return w, v
w, v = train()
# why(w) -> detach: line 4
