import torch
def step(x):
    with torch.no_grad():
        y = x * 2
        return y.sum()
x = torch.ones(2, requires_grad=True)
step(x).backward()
# why(error) -> no_grad: line 4; line 7
