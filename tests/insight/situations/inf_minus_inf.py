import torch
x = torch.tensor([1000.0, 1.0], requires_grad=True)
loss = torch.log(torch.exp(x).sum())
loss.backward()
# why(x) -> not finite: line 3; ExpBackward0
