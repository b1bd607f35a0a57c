import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * 3).backward(torch.tensor([1.0, 10.0]))
# why(w) -> started with another gradient: line 3
