import torch
base = torch.zeros(4)
part = base[1:3]
p = torch.tensor([1.0, 2.0], requires_grad=True)
part.mul_(p)
base.sum().backward()
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
y[0] = 0
y.sum().backward()
# why(x) -> zero: y[0] = 0 (line 9) overwrote
