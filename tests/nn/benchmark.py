"""Time training steps, on gradrepl or on PyTorch: `python tests/nn/benchmark.py [gradrepl|torch]`, with one thread.

Not a test: times depend on the machine. Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 for comparable figures.
"""

import sys
import time

if sys.argv[1:] == ["torch"]:
    import torch
    from torch import nn

    torch.set_num_threads(1)
else:
    from gradrepl import torch
    from gradrepl.torch import nn

F = nn.functional


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32)

    def forward(self, x):
        return self.lstm(x)[0]


def perceptron(*sizes):
    layers = [nn.Linear(sizes[0], sizes[1])]
    for size, following in zip(sizes[1:], sizes[2:]):
        layers += [nn.ReLU(), nn.Linear(size, following)]
    return nn.Sequential(*layers)


def timed(name, model, x, y, loss_of, optimizer, steps=200):
    times = []
    for _ in range(steps + 3):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    times = sorted(times[3:])
    print(f"{name:24} median {times[len(times) // 2] * 1e3:8.3f} ms   least {times[0] * 1e3:8.3f} ms")


torch.manual_seed(0)
model = LeNet()
images, digits = torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))
timed("LeNet, 64 images, SGD", model, images, digits, nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.01), 30)
for optimizer in (torch.optim.SGD, torch.optim.Adam):
    model = perceptron(10, 64, 64, 1)
    data = torch.randn(32, 10), torch.randn(32, 1)
    timed(f"MLP 10-64-64-1, {optimizer.__name__}", model, *data, nn.MSELoss(), optimizer(model.parameters(), lr=0.01))
model = perceptron(784, 256, 10)
data = images.flatten(1), digits
timed("MLP 784-256-10, SGD", model, *data, nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.01), 50)
model = Recurrent()
data = torch.randn(20, 8, 16), torch.randn(20, 8, 32)
timed("LSTM, 20 steps, SGD", model, *data, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.01), 50)
