import torch
torch.manual_seed(0)
x = torch.ones(8, requires_grad=True)
y = torch.nn.functional.dropout(x, 0.5)
y.sum().backward()
# why(x) -> zero: line 4; MulBackward0
