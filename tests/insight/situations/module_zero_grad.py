import torch
net = torch.nn.Linear(2, 1)
net(torch.ones(2)).sum().backward()
net.zero_grad()
# why(net.weight) -> cleared: net.zero_grad() on line 4; backward() on line 3
