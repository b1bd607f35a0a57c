import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
extra = torch.tensor(3.0, requires_grad=True)
use_extra = False
y = w * 2
if use_extra:
    y = y * extra
loss = y.sum()
loss.backward()
# why(extra) -> unused: MulBackward0
