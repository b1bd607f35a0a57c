import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
    @torch.no_grad()
    def forward(self, x):
        return self.fc(x)
net = Net()
loss = net(torch.ones(1, 2)).sum()
loss.backward()
# why(error) -> no_grad: line 9; line 12
