import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
for p in net[0].parameters():
    p.requires_grad = False
w = net[0].weight
loss = net(torch.ones(3, 2)).mean()
loss.backward()
# why(w) -> switched off: line 5
