"""Small programs of many kinds, whose graphs must be the same on both engines. Each returns what to look at and its names."""


def leaves(torch, *shapes):
    torch.manual_seed(0)
    return [torch.randn(*shape, requires_grad=True) for shape in shapes]


def polynomial(torch):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x**2 + 2 * x + 1
    return y, locals()


def fan_out(torch):
    (x,) = leaves(torch, (3,))
    y = x * x * x + x
    return [y, y.sum()], locals()


def reductions(torch):
    (x,) = leaves(torch, (3, 4))
    return [x.sum(), x.mean(0), x.max(), x.max(1).values, x.prod(), x.std(), x.norm(), x.logsumexp(1)], locals()


def views(torch):
    (x,) = leaves(torch, (2, 6))
    return [
        x.view(3, 4),
        x.t(),
        x[0],
        x[:, 1:4],
        x.reshape(4, 3).unsqueeze(0),
        x.expand(2, 2, 6),
        x.flatten(),
        x.transpose(0, 1)[2],
    ], locals()


def many_outputs(torch):
    (x,) = leaves(torch, (6, 2))
    a, b, c = x.split(2)
    p, q = x.unbind(1)
    s, i = x.sort(0)
    return [a + c, p * q, s, x.chunk(3)[1], x.topk(2, 0).values], locals()


def joins(torch):
    a, b, c = leaves(torch, (2, 3), (2, 3), (1, 3))
    return [torch.cat([a, b, c]), torch.stack([a, b]), torch.where(a > 0, a, b), torch.einsum("ij,kj->ik", a, b)], locals()


def products(torch):
    a, b, v = leaves(torch, (2, 3), (3, 4), (3,))
    return [a @ b, a @ v, v @ v, torch.bmm(a[None], b[None]), torch.addmm(a @ b, a, b)], locals()


def pointwise(torch):
    (x,) = leaves(torch, (3,))
    ops = "sin cos tan exp log sqrt abs tanh sigmoid relu neg reciprocal square sinh asin erf floor sign rsqrt".split()
    return [getattr(x.abs() * 0.5 + 0.1, op)() for op in ops], {"x": x}


def with_numbers(torch):
    (x,) = leaves(torch, (3,))
    return [x + 1, x - 2.5, 3 - x, x * 0.5, x / 4, 1 / x, x**3, 2**x, -x, x.clamp(-1, 1), x.clamp(min=0)], locals()


def broadcast(torch):
    a, b = leaves(torch, (3, 1), (4,))
    return [a + b, a * b, a / b, a - b, torch.maximum(a, b)], locals()


def in_place(torch):
    (x,) = leaves(torch, (3,))
    y = x * 1
    y.add_(1).mul_(2)
    y[0] = 5.0
    return y, locals()


def in_place_on_views(torch):
    (x,) = leaves(torch, (4,))
    y = x.clone()
    v = y[1:3]
    v.mul_(10)
    y.add_(1)
    return [y, v], {"x": x, "y": y}


def twice(torch):
    (x,) = leaves(torch, (3,))
    y = (x**3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return [g, (g * g).sum()], {"x": x, "y": y, "g": g}


def after_backward(torch):
    (x,) = leaves(torch, (3,))
    y = (x.exp() * x).sum()
    y.backward()
    return y, locals()


def cut(torch):
    (x,) = leaves(torch, (3,))
    h = x.exp()
    with torch.no_grad():
        z = h * 2
    return [(h.detach() * x).sum(), (z * x).sum()], {"x": x, "h": h}


def losses(torch):
    F = torch.nn.functional
    (x,) = leaves(torch, (4, 3))
    target = torch.tensor([0, 2, 1, 1])
    return [
        F.cross_entropy(x, target),
        F.mse_loss(x, x.detach() * 0),
        F.log_softmax(x, 1),
        F.softmax(x, 0),
        F.nll_loss(x, target),
    ], locals()


def layers(torch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.LayerNorm(3), torch.nn.Linear(3, 2))
    return model(torch.ones(2, 4)).sum(), dict(model.named_parameters())


def convolution(torch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.MaxPool2d(2), torch.nn.Flatten())
    return model(torch.ones(2, 1, 6, 6)).sum(), dict(model.named_parameters())


def embedding(torch):
    torch.manual_seed(0)
    table = torch.nn.Embedding(5, 3)
    return table(torch.tensor([1, 2, 1])).sum(), {"table": table.weight}


def indexing(torch):
    (x,) = leaves(torch, (4, 3))
    index = torch.tensor([0, 2])
    return [x[index], x[x > 0], x.gather(0, torch.zeros(1, 3, dtype=torch.int64)), x.index_select(1, index), x[..., 0], x[1, 2]], {"x": x}


def own_functions(torch):
    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad):
            return grad

    class Power(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, exponent):
            ctx.save_for_backward(x)
            ctx.exponent = exponent
            return x**exponent

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.exponent * x ** (ctx.exponent - 1), None

    (x,) = leaves(torch, (3,))
    return [Round.apply(x * 2), Power.apply(x, 3)], {"x": x}


def linear_algebra(torch):
    torch.manual_seed(0)
    a = (torch.eye(3) * 2 + torch.ones(3, 3)).requires_grad_()
    return [torch.linalg.inv(a), torch.linalg.det(a), torch.linalg.solve(a, torch.ones(3, 1)), a.trace(), a.tril(), a.diagonal()], {"a": a}


def cumulative(torch):
    (x,) = leaves(torch, (2, 3))
    return [x.cumsum(1), x.cumprod(0), x.flip(0), x.roll(1, 1), x.repeat(2, 1), x.masked_fill(x > 0, 0.0), x.var(1), x.median()], {"x": x}


def hooked(torch):
    (x,) = leaves(torch, (3,))
    h = x.exp()
    h.retain_grad()
    h.register_hook(lambda grad: grad * 2)
    x.register_hook(lambda grad: None)
    return (h * x).sum(), {"x": x, "h": h}


def frozen(torch):
    torch.manual_seed(0)
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    for parameter in first.parameters():
        parameter.requires_grad_(False)
    return second(torch.relu(first(torch.ones(2, 3)))).sum(), dict(second.named_parameters())


def recurrent(torch):
    torch.manual_seed(0)
    cell = torch.nn.RNNCell(3, 4)
    h = torch.zeros(2, 4)
    for _ in range(3):
        h = cell(torch.ones(2, 3), h)
    return h.sum(), dict(cell.named_parameters())


def jacobian(torch):
    (x,) = leaves(torch, (3,))
    y = (x * x).sin()
    rows = [torch.autograd.grad(y[i], x, create_graph=True)[0] for i in range(3)]
    return torch.stack(rows), {"x": x, "y": y}


SNIPPETS = [
    polynomial,
    fan_out,
    reductions,
    views,
    many_outputs,
    joins,
    products,
    pointwise,
    with_numbers,
    broadcast,
    in_place,
    in_place_on_views,
    twice,
    after_backward,
    cut,
    losses,
    layers,
    convolution,
    embedding,
    indexing,
    own_functions,
    linear_algebra,
    cumulative,
    hooked,
    frozen,
    recurrent,
    jacobian,
]
