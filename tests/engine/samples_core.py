"""Graph, views and writes: one line each."""

SAMPLES = [
    "a * b",
    "a * 2.0",
    "(a * b + a).sum()",
    "a[0]",
    "a.unbind()",
    "x = a * 1; v = x[0]; v.mul_(2); (x, v)",
    "x = a * 1; v = x.view(3, 2); x.mul_(b); v",
    "x = a * 1; x[0] = c; x",
    "a.mul_(2)",
    "a.view(-1)[0].zero_()",
    "x = a.clone(); y = x.unbind(); y[0].mul_(2)",
    "x = a.exp(); y = x * 2; x.add_(1); y.backward(torch.ones(2, 3, dtype=D))",
    "a + c",
]
