import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
with torch.no_grad():
    model[0].bias.fill_(-10.0)
model(torch.ones(1, 2)).sum().backward()
# why(model[0].bias) -> zero: model[0].bias.grad; its input < 0; line 6; ReluBackward0
