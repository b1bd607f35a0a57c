import torch
x = torch.ones(4, requires_grad=True)
y = x * 2
with torch.no_grad():
    part = y[:2]
part.mul_(3)
# why(error) -> view made in no_grad: line 5; line 6
