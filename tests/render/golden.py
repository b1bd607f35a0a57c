"""The programs whose pictures are looked at and kept. Each takes a torch and returns (what to draw, its names, how to draw it)."""


def mlp(torch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    loss = model(torch.randn(1, 8)).mean()
    return loss, {**dict(model.named_parameters()), "loss": loss}, {}


def shared(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x * x + x.sin()).sum()
    return y, {"x": x, "y": y}, {}


def split(torch):
    x = torch.arange(6.0, requires_grad=True)
    a, b, c = x.split(2)
    z = (a * 2 + c).sum()
    return [z, b], {"x": x, "a": a, "b": b, "c": c, "z": z}, {}


def inplace(torch):
    x = torch.arange(4.0, requires_grad=True)
    y = x.clone()
    v = y[1:3]
    v.mul_(10)
    y.add_(1)
    s = y.sum()
    return s, {"x": x, "s": s}, {}


def custom(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x, k = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.tensor([3.0, 2.0, 1.0])
    y = (Square.apply(x) * k).sum()
    return y, {"x": x, "k": k, "y": y}, {}


def unrolled(torch, steps):
    W, h = torch.full((4, 4), 0.1, requires_grad=True), torch.zeros(1, 4)
    for _ in range(steps):
        h = torch.tanh(h @ W + 1)
    loss = h.sum()
    return loss, {"W": W, "h": h, "loss": loss}


def rnn(torch):
    return *unrolled(torch, 6), {"saved": False, "fold": False}


def folded_rnn(torch):
    return *unrolled(torch, 1000), {}


def transformer(torch):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    y = layer(torch.randn(2, 5, 32)).mean()
    return y, {**dict(layer.named_parameters()), "y": y}, {"saved": False}


def double_backward(torch):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    (dx,) = torch.autograd.grad(y, x, create_graph=True)
    (d2x,) = torch.autograd.grad(dx, x, create_graph=True)
    return [dx, d2x], {"x": x, "y": y, "dx": dx, "d2x": d2x}, {"values": False, "saved": False}


def detach(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    target = h.detach()
    loss = ((h - target) * x).sum()
    return {"loss": loss, "target": target}, {"x": x, "h": h, "target": target, "loss": loss}, {}


def scalars(torch):
    a, b = torch.tensor(-4.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    c = a + b
    d = a * b + b**3
    e = (c - d).relu() + c
    e.backward()
    return e, {"a": a, "b": b, "c": c, "d": d, "e": e}, {}


def broadcast(torch):
    w, b = torch.ones(3, 4, requires_grad=True), torch.ones(4, requires_grad=True)
    y = ((w + b) * b).sum()
    return y, {"w": w, "b": b, "y": y}, {}


def spoilt(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    y = (h * x).sum()
    h.add_(1)
    return y, {"x": x, "h": h, "y": y}, {}


def not_a_number(torch):
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    y = x.sqrt().sum()
    return y, {"x": x, "y": y}, {}


def hooks(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 3
    h.retain_grad()
    h.register_hook(lambda grad: grad * 2)
    y = h.sum()
    y.backward()
    return y, {"x": x, "h": h, "y": y}, {"values": True}


def tied(torch):
    W = torch.full((2, 2), 0.5, requires_grad=True)
    x = torch.ones(1, 2)
    y = ((x @ W).relu() @ W.t()).sum()
    return y, {"encoder": W, "decoder": W, "y": y}, {}


GOLDEN = [
    mlp,
    shared,
    split,
    inplace,
    custom,
    rnn,
    folded_rnn,
    transformer,
    double_backward,
    detach,
    scalars,
    broadcast,
    spoilt,
    not_a_number,
    hooks,
    tied,
]
