import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
values = y.numpy()
# why(error) -> numpy of a tensor that requires grad: line 4; MulBackward0
