"""torch.func."""

globals().update({name: getattr(torch.func, name) for name in torch.func.__all__ if hasattr(torch.func, name)})
x = torch.tensor([1.0, 2.0, 3.0])
w = torch.tensor([1.0, 1.0, 2.0], requires_grad=True)
A = torch.arange(6.0).reshape(3, 2)
k = torch.tensor(2.0)
f = lambda x: x.sin().sum()
g = lambda x, y: (x * y).sum()
h = lambda x: (x**3, x.sum())
for n, F in enumerate(
    [
        lambda: grad(f)(x),
        lambda: grad(grad(torch.sin))(k),
        lambda: grad(g, argnums=(0, 1))(x, x),
        lambda: grad(g, argnums=1)(x, w),
        lambda: grad(g)(w, x),
        lambda: grad(lambda x: x * 2)(x),
        lambda: grad(f)(1.0),
        lambda: grad(lambda x: 3.0)(x),
        lambda: grad(lambda x: (x.sum(), x), has_aux=True)(x),
        lambda: grad(lambda x: (x.sum(), x))(x),
        lambda: grad(lambda d: d["a"].sum() * d["b"])({"a": x, "b": k}),
        lambda: grad(f, argnums=3)(x),
        lambda: grad(f)(torch.tensor([1, 2])),
        lambda: grad(lambda x: (x * w).sum())(x),
        lambda: grad(lambda x: (x * x * w).sum())(x),
        lambda: grad(lambda x: x.detach().sum())(x),
        lambda: grad(lambda x: torch.ones(1).sum())(x),
        lambda: grad_and_value(f)(x),
        lambda: grad_and_value(lambda x: (x.sum(), x), has_aux=True)(x),
        lambda: vjp(f, x)[0],
        lambda: vjp(f, x)[1](k),
        lambda: vjp(h, x)[1]((x, k)),
        lambda: vjp(h, x)[1](x),
        lambda: vjp(lambda x: (x * 2, x), x, has_aux=True)[2],
        lambda: vjp(g, x, x)[1](k),
        lambda: vjp(lambda d: d["a"] * 2, {"a": x})[1](x),
        lambda: vjp(torch.sin, x)[1](torch.ones(2)),
        lambda: jvp(torch.sin, (x,), (x,)),
        lambda: jvp(h, (x,), (x,)),
        lambda: jvp(f, x, x),
        lambda: jvp(f, (x,), (x, x)),
        lambda: jvp(torch.sin, (x,), (torch.ones(2),)),
        lambda: jvp(lambda x: (x, x * 2), (x,), (x,), has_aux=True),
        lambda: jvp(g, (x, x), (x, w)),
        lambda: jvp(g, (), ()),
        lambda: jacrev(torch.sin)(x),
        lambda: jacrev(h)(x),
        lambda: jacrev(g, argnums=(0, 1))(x, x),
        lambda: jacrev(lambda x: {"a": x * 2, "b": x.sum()})(x),
        lambda: jacrev(torch.sin, chunk_size=1)(x),
        lambda: jacrev(lambda x: (x * 2, x), has_aux=True)(x),
        lambda: jacfwd(torch.sin)(x),
        lambda: jacfwd(h)(x),
        lambda: jacfwd(g, argnums=(0, 1))(x, x),
        lambda: jacfwd(lambda x: (x * 2, x), has_aux=True)(x),
        lambda: hessian(f)(x),
        lambda: hessian(g, argnums=(0, 1))(x, x),
        lambda: jacrev(jacrev(f))(x),
        lambda: jacfwd(jacrev(f))(x),
        lambda: jacrev(torch.sin)(torch.tensor([1, 2])),
        lambda: jacfwd(torch.sin)(1.0),
        lambda: jacrev(lambda x: 1.0)(x),
        lambda: vmap(torch.dot)(A, A),
        lambda: vmap(torch.dot, in_dims=1)(A, A),
        lambda: vmap(torch.mul, in_dims=(0, None))(A, k),
        lambda: vmap(lambda x: (x, x.sum()))(A),
        lambda: vmap(lambda x: x * 2, out_dims=1)(A),
        lambda: vmap(torch.mul)(A, torch.ones(2, 2)),
        lambda: vmap(torch.mul, in_dims=(0, 1))(A, A),
        lambda: vmap(f, in_dims=3)(A),
        lambda: vmap(f)(1.0),
        lambda: vmap(f)(k),
        lambda: vmap(f, in_dims=None)(A),
        lambda: vmap(lambda x: 1)(A),
        lambda: vmap(lambda x: "a")(A),
        lambda: vmap(f, in_dims=(0, 0))(A),
        lambda: vmap(lambda d: d["a"] + 1, in_dims=({"a": 0},))({"a": A}),
        lambda: vmap(lambda d: d["a"] + 1)({"a": A}),
        lambda: vmap(vmap(torch.mul))(A, A),
        lambda: vmap(grad(f))(A),
        lambda: vmap(lambda x: x.item())(A),
        lambda: vmap(lambda x: x if x.sum() > 1 else x * 2)(A),
        lambda: vmap(f)(torch.ones(0, 2)),
        lambda: vmap(lambda x, y: (x + y, y), out_dims=(0, None), in_dims=(0, None))(A, x[:2]),
        lambda: vmap(f, chunk_size=2)(A),
        lambda: vmap(f, in_dims="a")(A),
        lambda: vmap(lambda *, x: x)(x=A),
        lambda: vmap(f)(),
        lambda: vmap(lambda x: x, out_dims=(0, 0))(A),
        lambda: vmap(lambda x, y: x + y, in_dims=(0, [0]))(A, [A]),
        lambda: vmap(lambda x: {"a": x, "b": x.sum()})(A),
        lambda: vmap(f, randomness="x")(A),
        lambda: vmap(lambda x: x.shape)(A),
        lambda: vmap(lambda x: None)(A),
        lambda: vmap(lambda x: x.add_(1))(A.clone()),
        lambda: linearize(torch.sin, x)[0],
        lambda: linearize(torch.sin, x)[1](x),
        lambda: linearize(f, x)[1](torch.ones(2)),
        lambda: vmap(jacrev(torch.sin))(A),
        lambda: grad(lambda x: vmap(f)(x).sum())(A),
        lambda: grad(lambda x: jvp(torch.sin, (x,), (x,))[1].sum())(x),
        lambda: jvp(grad(f), (x,), (x,)),
        lambda: grad,
        lambda: torch.vmap,
        lambda: torch.func.vmap is torch.vmap,
        lambda: grad(f),
        lambda: vmap(f).__name__,
    ]
):
    print(n, end=" ")
    attempt(F)
print(w.grad, x.grad, x.requires_grad)


x = torch.arange(24.0).view(2, 3, 4)
for pattern, sizes in (
    ("a b c -> c (a b)", {}),
    ("... c -> c ...", {}),
    ("a b (c d) -> (d a) b c", dict(d=2)),
    ("a b c -> a 1 b () c", {}),
    ("a b -> b a", {}),
    ("a b c -> a b", {}),
    ("a a c -> a c", {}),
    ("a b c", {}),
    ("a b c -> a b c", dict(q=3)),
    ("a b c -> (... a) b c", {}),
):
    try:
        print(pattern, torch.func.rearrange(x, pattern, **sizes))
    except ValueError as e:
        print(pattern, e)
print(torch.func.rearrange([x, x], "n a b c -> a n b c").shape, torch.func.rearrange(x.requires_grad_(), "a b c -> (a c) b").requires_grad)
