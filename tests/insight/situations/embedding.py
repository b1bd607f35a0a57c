import torch
table = torch.ones(4, 2, requires_grad=True)
ids = torch.tensor([1, 1, 3])
table[ids].sum().backward()
# why(table) -> zero: line 4; IndexBackward0
