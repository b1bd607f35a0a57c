import torch
torch.manual_seed(0)
x = torch.ones(8, requires_grad=True)
regularise = torch.nn.Dropout(0.5)
regularise(x).sum().backward()
# why(x) -> zero: dropout in regularise(x) (line 5); eval mode
