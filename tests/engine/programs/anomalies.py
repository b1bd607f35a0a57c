"""Anomaly mode: which warnings come, and where they point."""


def told(function, **options):
    """What a function warns and raises in anomaly mode, without the paths."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        attempt(lambda: run(function, options))
    for warning in caught:
        lines = str(warning.message).split(" (Triggered")[0].splitlines()
        print("   ", warning.category.__name__, [line for line in lines if not line.startswith("  ")])


def run(function, options):
    with torch.autograd.detect_anomaly(**options):
        return function()


class Break(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("broken")


class Spoil(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return Fill.apply(grad)


class Fill(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad * float("nan")


x = torch.tensor([-1.0, 4.0], requires_grad=True)
outside = x.sqrt().sum()
told(lambda: x.sqrt().sum().backward())
told(lambda: outside.backward())
told(lambda: x.sqrt().sum().backward(), check_nan=False)
told(lambda: Break.apply(x).sum().backward())


def twice():
    grad = torch.ones(2, requires_grad=True)
    (found,) = torch.autograd.grad(Spoil.apply(x), x, grad, create_graph=True)
    found.sum().backward()


told(twice)


def written():
    y = x.exp()
    z = y * 2 * y
    y.add_(1)
    z.sum().backward()


told(written)
print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    y = x * 2
    print(sorted(y.grad_fn.metadata))
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    print(sorted(g.grad_fn.metadata), g.grad_fn.metadata["parent_"].name())
print(torch.is_anomaly_enabled(), (x * 2).grad_fn.metadata)
