import torch
w = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
loss = (w ** 2).mean()
loss.backward()
# why(w) -> sum or mean: line 3; MeanBackward0
