import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = x * 1
head = base[:2]
head.mul_(10)
base.sum().backward()
# why(x) -> base follows its view: line 5
