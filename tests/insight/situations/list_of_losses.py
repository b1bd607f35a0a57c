import torch
w = torch.tensor(2.0, requires_grad=True)
losses = []
for k in range(3):
    losses.append(w * k)
total = sum(losses)
total.backward()
# why(w) -> used several times: MulBackward0
