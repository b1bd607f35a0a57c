import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)
    def forward(self, x):
        return self.a(x)
net = Net()


loss = net(torch.ones(1, 2)).sum()
loss.backward()
# why(net.b.weight) -> unused: AddmmBackward0
