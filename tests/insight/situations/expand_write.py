import torch
x = torch.zeros(3, 1)
y = x.expand(3, 4)
y += 1
# why(error) -> expanded tensor written: line 4; line 3
