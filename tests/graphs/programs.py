"""Programs with repeats, to try folding on. Each takes a torch first, so that they run on either engine."""


def leaf(torch, *sizes):
    return torch.randn(*sizes, requires_grad=True)


def rnn1(torch, T=200, flip=False, h0=False):
    W, U, b = leaf(torch, 4, 4), leaf(torch, 3, 4), leaf(torch, 4)
    h = leaf(torch, 2, 4) if h0 else torch.zeros(2, 4)
    for _ in range(T):
        x = torch.randn(2, 3)
        h = torch.tanh((h @ W + x @ U if flip else x @ U + h @ W) + b)
    return h.sum()


def rnn2(torch, T=100):
    W1, U1, W2, U2 = leaf(torch, 4, 4), leaf(torch, 3, 4), leaf(torch, 4, 4), leaf(torch, 4, 4)
    h1 = h2 = torch.zeros(2, 4)
    for _ in range(T):
        h1 = torch.tanh(torch.randn(2, 3) @ U1 + h1 @ W1)
        h2 = torch.tanh(h1 @ U2 + h2 @ W2)
    return h2.sum()


def lstm_by_hand(torch, T=60):
    W, U, b = leaf(torch, 3, 16), leaf(torch, 4, 16), leaf(torch, 16)
    h = c = torch.zeros(2, 4)
    for _ in range(T):
        i, f, g, o = (torch.randn(2, 3) @ W + h @ U + b).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return h.sum()


def rnn_all_losses(torch, T=60):
    W, U, V, h, total = leaf(torch, 4, 4), leaf(torch, 3, 4), leaf(torch, 4, 2), torch.zeros(2, 4), 0
    for _ in range(T):
        h = torch.tanh(torch.randn(2, 3) @ U + h @ W)
        total = total + ((h @ V - 1) ** 2).mean()
    return total


def training_loop(torch, T=100):
    W, total = leaf(torch, 3, 1), torch.zeros(())
    for _ in range(T):
        total = total + ((torch.randn(5, 3) @ W - 1) ** 2).mean()
    return total


def mlp(torch, L=100):
    x = torch.randn(2, 8)
    for _ in range(L):
        x = torch.tanh(x @ leaf(torch, 8, 8).t() + leaf(torch, 8))
    return x.sum()


def mlp_decay(torch, L=100):
    x, parameters = torch.randn(2, 8), []
    for _ in range(L):
        weight, bias = leaf(torch, 8, 8), leaf(torch, 8)
        parameters += [weight, bias]
        x = torch.tanh(x @ weight.t() + bias)
    return x.sum() + 0.1 * sum((p * p).sum() for p in parameters)


def residual(torch, L=16):
    x = leaf(torch, 2, 4)
    for _ in range(L):
        x = torch.relu(x + torch.relu(x @ leaf(torch, 4, 4)) @ leaf(torch, 4, 4))
    return x.mean()


def power_iteration(torch, T=100):
    A, x = leaf(torch, 5, 5), torch.ones(5)
    for _ in range(T):
        y = A @ x
        x = y / (y * y).sum().sqrt()
    return (x * (A @ x)).sum()


def scalar_mlp(torch, sizes=(3, 16, 16, 1), samples=4):
    layers = [[([leaf(torch, 1)[0] for _ in range(n)], leaf(torch, 1)[0]) for _ in range(m)] for n, m in zip(sizes, sizes[1:])]
    loss = 0
    for _ in range(samples):
        x = [torch.randn(1)[0] for _ in range(sizes[0])]
        for depth, layer in enumerate(layers):
            x = [sum((wi * xi for wi, xi in zip(w, x)), b) for w, b in layer]
            x = [v.relu() for v in x] if depth < len(layers) - 1 else x
        loss = loss + (x[0] - 1) ** 2
    return loss


def odd_step(torch, T=100):
    W, h = leaf(torch, 4, 4), torch.zeros(2, 4)
    for t in range(T):
        h = torch.tanh(h @ W + 1)
        h = h.sin() if t == T // 2 else h
    return h.sum()


def two_loops(torch, T=60):
    W, V, h = leaf(torch, 4, 4), leaf(torch, 4, 4), leaf(torch, 2, 4)
    for _ in range(T):
        h = torch.tanh(h @ W + 1)
    for _ in range(T):
        h = (h @ V).sigmoid() * h
    return h.sum()


def nested(torch, outer=20, inner=5, own=False):
    W, h = leaf(torch, 4, 4), leaf(torch, 2, 4)
    for _ in range(outer):
        W = leaf(torch, 4, 4) if own else W
        for _ in range(inner):
            h = torch.tanh(h @ W + 1)
        h = h / h.exp()
    return h.sum()


def chain(torch, T=5000):
    x = leaf(torch, 3)
    for _ in range(T):
        x = x.sin()
    return x.sum()


def tree(torch, depth=12):
    xs = [leaf(torch, 1) for _ in range(2**depth)]
    while len(xs) > 1:
        xs = [a + b for a, b in zip(xs[::2], xs[1::2])]
    return xs[0]


def wide(torch, T=300):
    x = leaf(torch, T, 3)
    return torch.stack([v.sin() * 2 for v in x.exp().unbind()]).sum()


def alternating(torch, T=100):
    A, B, x = leaf(torch, 4, 4), leaf(torch, 4, 4), leaf(torch, 2, 4)
    for _ in range(T):
        x = torch.tanh(x @ A)
        x = torch.tanh(x @ B)
    return x.sum()


def tied_layers(torch, T=50, L=10):
    Ws, x = [leaf(torch, 4, 4) for _ in range(L)], leaf(torch, 2, 4)
    for _ in range(T):
        for W in Ws:
            x = torch.tanh(x @ W)
    return x.sum()


def fibonacci(torch, T=200):
    a, b, W = leaf(torch, 3), leaf(torch, 3), leaf(torch, 3)
    for _ in range(T):
        a, b = b, torch.tanh(a * W + b)
    return b.sum()


def heavy_side(torch, T=100):
    side, W, h = [leaf(torch, 3, 8), leaf(torch, 8, 8), leaf(torch, 8, 4)], leaf(torch, 4, 4), torch.zeros(2, 4)
    for _ in range(T):
        x = torch.randn(2, 3)
        for weight in side:
            x = torch.tanh(x @ weight)
        h = torch.tanh(h @ W + x)
    return h.sum()


def many_roots(torch, T=100):
    W, h, out = leaf(torch, 4, 4), torch.zeros(2, 4), []
    for _ in range(T):
        h = torch.tanh(h @ W + 1)
        out.append(h)
    return out


def read_by_index(torch, T=100):
    x, W, h = leaf(torch, T, 1, 4).exp(), leaf(torch, 4, 4), torch.zeros(1, 4)
    for t in range(T):
        h = torch.tanh(h @ W + x[t])
    return h.sum()


REPEATS = [
    rnn1,
    rnn2,
    lstm_by_hand,
    rnn_all_losses,
    training_loop,
    mlp,
    mlp_decay,
    residual,
    power_iteration,
    scalar_mlp,
    odd_step,
    two_loops,
    nested,
    chain,
    tree,
    wide,
    alternating,
    tied_layers,
    fibonacci,
    heavy_side,
    many_roots,
    read_by_index,
]
