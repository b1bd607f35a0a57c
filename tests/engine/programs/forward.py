"""Forward mode."""

fw = torch.autograd.forward_ad
a = torch.tensor([1.0, 2.0])
ta = torch.tensor([1.0, 0.5])
attempt(lambda: fw.make_dual(a, ta))
with fw.dual_level():
    d = fw.make_dual(a, ta)
    print(d, d.requires_grad, d.grad_fn, d.is_leaf)
    y = d * 2
    print(y, y.requires_grad, y.grad_fn)
    print(fw.unpack_dual(y))
    print(fw.unpack_dual(a))
    print(type(fw.unpack_dual(y)))
    attempt(lambda: fw.make_dual(a, torch.ones(3)))
    attempt(lambda: fw.make_dual(a, 1))
    attempt(lambda: fw.make_dual(a, torch.ones(2, dtype=torch.float64)))
    attempt(lambda: fw.make_dual(torch.ones(2, dtype=torch.int64), ta))
    attempt(lambda: fw.make_dual(d, ta))
    attempt(lambda: fw.dual_level().__enter__())
    with torch.no_grad():
        z = d * 3
        print(z, fw.unpack_dual(z))
    r = a.clone().requires_grad_()
    q = fw.make_dual(r, ta)
    print(q, q.grad_fn)
    w = (q * q).sum()
    print(w)
    p = fw.unpack_dual((q * q))
    print(torch.autograd.grad(p.tangent.sum(), r))
    v = d[0]
    print(v)
    d2 = d.clone()
    d2.mul_(3)
    print(fw.unpack_dual(d2))
    x = torch.ones(2)
    x.copy_(d)
    print(fw.unpack_dual(x))
    x = torch.ones(2)
    x.mul_(d)
    print(fw.unpack_dual(x))
    print(d.detach(), fw.unpack_dual(d.detach()))

    print(fw.unpack_dual(torch.stack([d, d]).max(0).values), (d > 0))
print(
    y,
)
attempt(lambda: fw.unpack_dual(y))

attempt(lambda: fw.exit_dual_level())
print(fw.__all__)
Function = torch.autograd.Function


class E(Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, i, o):
        ctx.save_for_forward(o)
        ctx.save_for_backward(o)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        print("jvp", t, ctx.saved_for_forward)
        return t * ctx.saved_for_forward[0]


with fw.dual_level():
    d = fw.make_dual(a, ta)
    print(E.apply(d))
    print(torch.cat([d, d]), d.view(2, 1), d.sum(), d @ d, d.unsqueeze(0) @ torch.ones(2, 2), d.max(), d.sort(), d.cumsum(0), d.softmax(0))
    b = torch.zeros(2, 2)
    b[0] = d
    print(b)
    b[1].copy_(d * 2)
    print(b)
    q = d.expand(2, 2).clone()
    q[:, 0].mul_(3)
    print(q)
print(b, q)


# operations without a forward derivative
def without(name, function, x):
    with fw.dual_level():
        try:
            function(fw.make_dual(x, torch.ones_like(x)))
        except NotImplementedError as error:
            print(name, str(error).splitlines()[0])


rows, picture = torch.tensor([[0.5, 1.5], [2.5, 0.25], [1.0, 3.0]]), torch.arange(32.0).reshape(1, 2, 4, 4)
for name, (function, x) in dict(
    igamma=(lambda x: torch.igamma(rows, x), rows),
    zeta=(lambda x: torch.special.zeta(x + 1, rows), rows),
    cdist=(lambda x: torch.cdist(x, rows), rows),
    pdist=(torch.pdist, rows),
    bag=(lambda x: torch.nn.functional.embedding_bag(torch.tensor([[0, 2]]), x), rows),
    margin=(lambda x: torch.nn.functional.multi_margin_loss(x, torch.tensor([0, 1, 0])), rows),
    labels=(lambda x: torch.nn.functional.multilabel_margin_loss(x, torch.tensor([[0, -1]] * 3)), rows),
    sample=(lambda x: torch.nn.functional.grid_sample(x, torch.zeros(1, 2, 2, 2), align_corners=False), picture),
    attention=(lambda x: torch.nn.functional.scaled_dot_product_attention(x, picture, picture), picture),
).items():
    without(name, function, x)
