import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
part = y[[0, 2]]
part.zero_()
y.sum().backward()
# why(x) -> write into a copy: line 4; line 5
