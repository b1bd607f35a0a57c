"""Sequence numbers, the order of saving, nodes called by hand."""

a = torch.ones(2, 2, requires_grad=True)
x = a * 1
y = x // 2
z = x * 3
n = x.grad_fn._sequence_nr()
print(y.grad_fn._sequence_nr(), z.grad_fn._sequence_nr() - n, y.grad_fn.next_functions)
w = x % torch.ones(2, 2)
r = -1 % x
print(w.grad_fn, r.grad_fn, r.grad_fn.next_functions)
T = lambda n: torch.full((2, 2), float(n), requires_grad=True)


def packs(name, f):
    log = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append(round(float(t.detach().reshape(-1)[0]), 3)), t)[1], lambda t: t):
        r = f()
    r = r[0] if isinstance(r, tuple) else r
    print(name, log, [n for n in dir(r.grad_fn) if n.startswith("_saved")])


p, q, s = T(2), T(3), T(5)
for n, f in dict(
    mul=lambda: p * q,
    div=lambda: p / q,
    pow=lambda: p**q,
    addcmul=lambda: torch.addcmul(p, q, s),
    addcdiv=lambda: torch.addcdiv(p, q, s),
    mm=lambda: p @ q,
    addmm=lambda: torch.addmm(p, q, s),
    lerp=lambda: torch.lerp(p, q, s),
    atan2=lambda: torch.atan2(p, q),
    where=lambda: torch.where(p > 0, p, q),
    prod=lambda: p.prod(),
    std=lambda: p.std(),
    norm=lambda: p.norm(),
    cdist=lambda: torch.cdist(p, q),
    maximum=lambda: torch.maximum(p, q),
    ln=lambda: F.layer_norm(p, (2,), q[0], s[0]),
    bce=lambda: F.binary_cross_entropy(p / 10, q / 10),
    mse=lambda: F.mse_loss(p, q),
    kl=lambda: F.kl_div(p, q),
    gather=lambda: p.gather(0, torch.zeros(2, 2, dtype=torch.int64)),
    hypot=lambda: torch.hypot(p, q),
    tanh=lambda: p.tanh(),
    gelu=lambda: F.gelu(p),
    max=lambda: p.max(0),
    sort=lambda: p.sort(0),
    logsumexp=lambda: p.logsumexp(0),
    logaddexp=lambda: torch.logaddexp(p, q),
    xlogy=lambda: torch.xlogy(p, q),
    renorm=lambda: p.renorm(2, 0, 1),
    index=lambda: p[torch.tensor([1, 0])],
    index_put=lambda: p.clone().index_put_((torch.tensor([1, 0]),), q),
    cumprod=lambda: p.cumprod(0),
    baddbmm=lambda: torch.baddbmm(p[None], q[None], s[None]),
    conv=lambda: F.conv1d(p[None], q[:, :, None], s[0]),
    emb=lambda: F.embedding(torch.tensor([1]), p),
    nll=lambda: F.nll_loss(p, torch.tensor([0, 1]), s.detach()[0]),
    smoothl1=lambda: F.smooth_l1_loss(p, q),
    solve=lambda: torch.linalg.solve(p + torch.eye(2), q),
    inv=lambda: torch.linalg.inv(p + torch.eye(2)),
).items():
    try:
        packs(n, f)
    except Exception as e:
        print(n, type(e).__name__, str(e)[:80])
print((a * 1).grad_fn(torch.ones(2, 2)), a.max(0)[0].grad_fn(torch.ones(2)))
for f in (
    lambda: (a * 1).grad_fn(),
    lambda: (a * 1).grad_fn(1),
    lambda: (a * a).grad_fn(torch.ones(2, 2)),
    lambda: (a * 1).grad_fn(torch.ones(3, 2)),
    lambda: (a * 1).grad_fn(None),
    lambda: (a * 1).grad_fn.next_functions[0][0](torch.ones(2, 2)),
):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
print(a.grad)
