import torch
x = torch.tensor(3.0, requires_grad=True)
y = 2 * x
y.backward()
# why(x) -> as computed: MulBackward0
