import torch
counts = torch.tensor([1, 2, 3])
counts.mul_(1.5)
# why(error) -> dtype of a write: line 3
