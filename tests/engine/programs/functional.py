"""torch.autograd.functional, strict and not."""

jacobian, hessian, vjp, jvp, hvp, vhp = (getattr(torch.autograd.functional, n) for n in "jacobian hessian vjp jvp hvp vhp".split())
x = torch.tensor([1.0, 2.0, 3.0])
y = torch.tensor([2.0, 0.5, 1.0])
w = torch.tensor([1.0, 1.0, 2.0], requires_grad=True)
f = lambda x: x.exp().sum()
g = lambda x, y: (x * y, (x**2).sum())
h = lambda x, y: (x * x * y).sum()
lin = lambda x: x * 2
const = lambda x: torch.ones(3)
for F in (jacobian, hessian):
    for kw in (
        dict(),
        dict(create_graph=True),
        dict(strict=True),
        dict(vectorize=True),
        dict(strict=True, create_graph=True),
        dict(strict=True, vectorize=True),
    ):
        for fn, inp in (
            (f, x),
            (g, (x, y)),
            (h, (x, y)),
            (lin, x),
            (const, x),
            (f, w),
            (lambda x: x * w, w),
            (lambda x: 1, x),
            (f, 1),
            (f, (1,)),
            (lambda x: (x**3).sum(), x),
            (lambda x: (w * x.pow(2)).sum(), x),
        ):
            attempt(lambda: F(fn, inp, **kw))
attempt(lambda: jacobian(g, (x, y), strategy="forward-mode", vectorize=True))
attempt(lambda: jacobian(f, x, strategy="forward-mode"))
attempt(lambda: jacobian(f, x, strategy="forward-mode", vectorize=True, strict=True))
attempt(lambda: jacobian(f, x, strategy="forward-mode", create_graph=True))
attempt(lambda: jacobian(f, x, strategy="x"))
attempt(lambda: hessian(f, x, outer_jacobian_strategy="x"))
for F in (vjp, jvp, hvp, vhp):
    for kw in (dict(), dict(create_graph=True), dict(strict=True), dict(strict=True, create_graph=True)):
        for fn, inp, v in (
            (f, x, None),
            (f, x, x),
            (f, x, torch.tensor(1.0)),
            (g, (x, y), (x, y)),
            (g, (x, y), (x, torch.tensor(2.0))),
            (h, (x, y), (y, x)),
            (lin, x, x),
            (const, x, x),
            (f, w, w),
            (lambda x: x * w, w, w),
            (h, (x, y), x),
            (h, (x, y), (x,)),
            (h, (x, y), (x, y[:2])),
            (lambda x: x**3, torch.tensor([2.0]), None),
            (lambda x: (x**3).sum(), x, x),
            (lambda x: (w * x.pow(2)).sum(), x, x),
            (f, x, (x, x)),
            (f, x, 1),
        ):
            attempt(lambda: F(fn, inp, v, **kw))
attempt(lambda: jacobian(lambda x: x.reshape(3, 1) * torch.ones(1, 2), x))
attempt(lambda: jacobian(lambda x: x[:0], x))
attempt(lambda: w.grad)
