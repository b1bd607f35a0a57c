import torch
def train(weights, bias, steps):
    for _ in range(steps):
        with torch.no_grad():
            h = weights * 3
        loss = (h + bias).sum()
        loss.backward()
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.0, requires_grad=True)
train(w, b, steps=2)
# why(w) -> no_grad: line 5
