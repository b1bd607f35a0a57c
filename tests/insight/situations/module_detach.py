import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(2, 2)
        self.dec = nn.Linear(2, 1)
    def forward(self, x):
        h = torch.tanh(self.enc(x))
        h = h.detach()
        return self.dec(h)
net = Net()
x = torch.ones(3, 2)
loss = net(x).pow(2).mean()
loss.backward()
# why(net.enc.weight) -> detach: line 10; AddmmBackward0
