"""Time training steps on gradrepl beside PyTorch, in turn, in one process: `python tests/nn/benchmark.py [gradrepl] [torch]`.

Not a test: times depend on the machine. Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 for comparable figures. `--only TEXT` picks rows.
"""

import argparse
import importlib
import time
from statistics import median

ROUNDS = 9


def lenet(torch):
    nn = torch.nn
    features = nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    return nn.Sequential(*features, nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def perceptron(*sizes):
    def make(torch):
        layers = [torch.nn.Linear(sizes[0], sizes[1])]
        for size, following in zip(sizes[1:], sizes[2:]):
            layers += [torch.nn.ReLU(), torch.nn.Linear(size, following)]
        return torch.nn.Sequential(*layers)

    return make


def recurrent(kind):
    def make(torch):
        class Recurrent(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = getattr(torch.nn, kind)(16, 32)

            def forward(self, x):
                return self.layer(x)[0]

        return Recurrent()

    return make


def classes(*shape):
    return lambda torch: (torch.randn(64, *shape), torch.randint(0, 10, (64,)))


def values(*shapes):
    return lambda torch: [torch.randn(shape) for shape in shapes]


SMALL = values((32, 10), (32, 1))
SEQUENCE = values((20, 8, 16), (20, 8, 32))
ROWS = {  # what is trained -> (model, data, loss, optimizer)
    "LeNet, 64 images, SGD": (lenet, classes(1, 28, 28), "CrossEntropyLoss", "SGD"),
    "MLP 10-64-64-1, SGD": (perceptron(10, 64, 64, 1), SMALL, "MSELoss", "SGD"),
    "MLP 10-64-64-1, Adam": (perceptron(10, 64, 64, 1), SMALL, "MSELoss", "Adam"),
    "MLP 784-256-10, SGD": (perceptron(784, 256, 10), classes(784), "CrossEntropyLoss", "SGD"),
    "MLP 784-256-10, Adam": (perceptron(784, 256, 10), classes(784), "CrossEntropyLoss", "Adam"),
    "LSTM, 20 steps, SGD": (recurrent("LSTM"), SEQUENCE, "MSELoss", "SGD"),
    "GRU, 20 steps, SGD": (recurrent("GRU"), SEQUENCE, "MSELoss", "SGD"),
    "RNN, 20 steps, SGD": (recurrent("RNN"), SEQUENCE, "MSELoss", "SGD"),
}


def trainer(torch, model, data, loss, optimizer):
    """A function that trains one step."""
    torch.manual_seed(0)
    model, (x, y) = model(torch), data(torch)
    loss_of, optimizer = getattr(torch.nn, loss)(), getattr(torch.optim, optimizer)(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()

    return step


def compared(steps, rounds, share=0.05):
    """Engine -> the times of single steps; the engines take turns, so that all of them see the same moods of the machine."""
    times = {name: [] for name in steps}
    for step in steps.values():
        for _ in range(5):
            step()
    for _ in range(rounds):
        for name, step in steps.items():
            end = time.perf_counter() + share
            while (start := time.perf_counter()) < end:
                step()
                times[name].append(time.perf_counter() - start)
    return times


def ratios(times):
    """How much longer the first engine takes than the second, by their medians and by their quickest steps."""
    if len(times) < 2:
        return ""
    first, second = times.values()
    return f"{median(first) / median(second):.2f}x ({min(first) / min(second):.2f}x)"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=["gradrepl", "torch"])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    engines = {name: importlib.import_module("torch" if name == "torch" else "gradrepl.torch") for name in options.engines}
    if "torch" in engines:
        engines["torch"].set_num_threads(1)
    for title, row in ROWS.items():
        if options.only in title:
            times = compared({name: trainer(torch, *row) for name, torch in engines.items()}, options.rounds)
            texts = [f"{name} median {median(values) * 1e3:7.3f} least {min(values) * 1e3:7.3f} ms" for name, values in times.items()]
            print(f"{title:24} {'   '.join(texts)}   {ratios(times)}", flush=True)


if __name__ == "__main__":
    main()
