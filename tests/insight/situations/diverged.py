import torch
w = torch.tensor(3.0, requires_grad=True)
for step in range(12):
    loss = w ** 4
    loss.backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
        w.grad = None
loss = w ** 4
loss.backward()
# why(w) -> not finite itself: line 5
