import torch
a = torch.tensor([1.0, 2.0], requires_grad=True)
k = a.clone()
k[k > 1] = 0.0
k.sum().backward()
ema = a.detach()
ema.mul_(0.9)
v = torch.tensor([0.5, 3.0], requires_grad=True)
y = torch.nn.functional.relu6(v * 3)
a.data.mul_(2)
y.sum().backward()
# why(v) -> zero: v.grad[1] is 0
