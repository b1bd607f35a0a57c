import torch
x = torch.zeros(3, requires_grad=True)
x.norm().backward()
# why(x) -> zero: line 3; LinalgVectorNormBackward0
