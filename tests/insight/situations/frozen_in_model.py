import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
model[0].weight.requires_grad = False
model(torch.ones(1, 2)).sum().backward()
# why(model[0].weight) -> switched off: model[0].weight.grad; line 4; model[0].weight.requires_grad_()
