"""vmap: what is seen inside, random numbers, custom Functions, and vmap with every other transform."""

globals().update({name: getattr(torch.func, name) for name in torch.func.__all__ if hasattr(torch.func, name)})
Function, F = torch.autograd.Function, torch.nn.functional
x = torch.arange(6.0).reshape(2, 3) / 10 + 0.1
u = torch.ones(3) / 2
r = x.clone().requires_grad_()


def look(x):
    print(x, x.shape, x.dim(), x.size(), len(x), x.stride(), x.requires_grad, x.grad_fn, x.is_leaf, isinstance(x, torch.Tensor), x.dtype)
    print(x.sum(), x * 2, [y.shape for y in x], x.is_contiguous(), x.numel(), x.T.shape, torch.is_tensor(x), x.is_floating_point())
    return x * 2


def look_twice(a, b):
    print(a, b, a + b)
    return a * b


attempt(lambda: vmap(look)(r))
attempt(lambda: vmap(look, in_dims=1)(x))
attempt(lambda: vmap(vmap(look_twice, (0, None)), (1, 0))(x, u))
attempt(lambda: vmap(grad(lambda x: print(x) or (x**2).sum()))(x))
attempt(lambda: grad(lambda x: vmap(lambda y: print(y) or y.sum())(x).sum())(x))

# random numbers
DRAWS = [
    lambda x: torch.rand(3) + x * 0,
    lambda x: torch.randn(20)[:2],
    lambda x: torch.randint(0, 9, (3,)),
    lambda x: torch.rand_like(x),
    lambda x: torch.randn_like(u),
    lambda x: torch.randperm(4),
    lambda x: torch.bernoulli(x),
    lambda x: torch.bernoulli(u),
    lambda x: F.dropout(x, 0.5),
    lambda x: F.dropout(u, 0.5) + x,
    lambda x: F.dropout(x, 0.5, training=False),
    lambda x: x.clone().normal_(),
    lambda x: x.clone().bernoulli_(0.5),
    lambda x: u.clone().normal_(),
    lambda x: torch.normal(x, 1.0),
    lambda x: torch.normal(0.0, 1.0, (3,)),
    lambda x: torch.multinomial(x, 2),
    lambda x: torch.rand(()),
    lambda x: vmap(lambda y: y * 0 + torch.rand(()), randomness="different")(x),
    lambda x: vmap(lambda y: y * 0 + torch.rand(()), randomness="same")(x),
]
for n, draw in enumerate(DRAWS):
    for mode in ("error", "different", "same"):
        torch.manual_seed(0)
        print(n, mode, end=" ")
        attempt(lambda: (vmap(draw, randomness=mode)(x), torch.rand(1)))
attempt(lambda: vmap(lambda x: torch.rand(3), randomness="different", chunk_size=1)(x).shape)


# custom Functions
class Square(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        print("forward", x)
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        print("setup", inputs[0], output)
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        print("backward", g, x, ctx.needs_input_grad)
        return 2 * x * g


class Product(Function):
    @staticmethod
    def forward(x, y, n):
        return x * y * n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.n = inputs[2]

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * ctx.n, g * x * ctx.n, None

    @staticmethod
    def vmap(info, in_dims, x, y, n):
        print(info, in_dims, type(x), n)
        return Product.apply(x, y, n), 0


def made(body, **more):
    """A Function that doubles, with this for its `vmap`."""
    methods = dict(
        forward=lambda x: x * 2,
        setup_context=lambda ctx, inputs, output: None,
        backward=lambda ctx, g: g * 2,
        **({"vmap": body} if body else {}),
    )
    return type("Double", (Function,), {name: staticmethod(method) for name, method in methods.items()} | more)


attempt(lambda: vmap(Square.apply)(x))
attempt(lambda: vmap(Square.apply, in_dims=1)(r))
attempt(lambda: torch.autograd.grad(vmap(Square.apply)(r).sum(), r))
attempt(lambda: vmap(lambda x: Square.apply(x) * Square.apply(u))(x))
attempt(lambda: vmap(Product.apply, in_dims=(0, None, None))(x, u, 2.0))
attempt(lambda: vmap(Product.apply, in_dims=(0, None, None), randomness="same")(r, u, 2.0))
attempt(lambda: vmap(lambda x: Product.apply(u, u, 2.0) + x)(x))
attempt(lambda: vmap(vmap(Product.apply, in_dims=(0, 0, None)), in_dims=(0, None, None))(x, u, 2.0))
attempt(lambda: vmap(grad(lambda x, y: Product.apply(x, y, 2.0).sum()), in_dims=(0, None))(x, u))
attempt(lambda: jacrev(lambda x: Product.apply(x, u, 2.0))(u))
for body, more in [
    (None, {}),
    (None, dict(generate_vmap_rule=True)),
    (lambda info, in_dims, x: x, {}),
    (lambda info, in_dims, x: (x * 3, 0), {}),
    (lambda info, in_dims, x: (x * 3, (0, 0)), {}),
    (lambda info, in_dims, x: (x[0] * 3, None), {}),
    (lambda info, in_dims, x: (x * 3, 0), dict(generate_vmap_rule=True)),
]:
    attempt(lambda: vmap(made(body, **more).apply)(x))
    attempt(lambda: jacrev(made(body, **more).apply)(u))

# with other transforms
W = torch.arange(6.0).reshape(2, 3) / 6
MAPPED = [
    lambda: vmap(grad(lambda w, x: (w * x).sin().sum()), in_dims=(None, 0))(u, x),
    lambda: vmap(grad_and_value(lambda x: (x**3).sum()))(x),
    lambda: vmap(jacrev(lambda x: x * x.sum()))(x),
    lambda: vmap(jacfwd(lambda x: x * x.sum()))(x),
    lambda: vmap(hessian(lambda x: (x**3).sum()))(x),
    lambda: vmap(lambda t: jvp(torch.sin, (u,), (t,))[1])(x),
    lambda: vmap(lambda x, t: jvp(torch.sin, (x,), (t,)))(x, x),
    lambda: vmap(vjp(torch.sin, u)[1])(x),
    lambda: jacfwd(lambda x: x**2)(u),
    lambda: hessian(lambda x: x.prod())(u),
    lambda: hessian(lambda x: (W @ x).tanh().sum())(u),
    lambda: hessian(lambda x, y: (x * y).sum() ** 2, argnums=(0, 1))(u, u),
    lambda: jacrev(jacrev(lambda x: x.sin().sum()))(u),
    lambda: jacrev(vmap(lambda x: x.sum()))(x),
    lambda: grad(lambda x: vmap(hessian(lambda y: (y**4).sum()))(x).sum())(x),
    lambda: vmap(vmap(grad(lambda x, y: x * y * y), (0, None)), (None, 0))(u, u),
    lambda: vmap(lambda v: torch.autograd.grad((r**2).sum(0), r, v)[0])(torch.eye(3)),
    lambda: torch.autograd.functional.jacobian(lambda x: (x.sum(), x * 2), u, vectorize=True),
    lambda: torch.autograd.functional.hessian(lambda x: (x**3).sum(), u, vectorize=True),
    lambda: torch.autograd.grad([r.sum(), r[0] * 2], r, [torch.ones(4), torch.ones(4, 3)], is_grads_batched=True),
    lambda: torch.autograd.grad([r.sum(), r[0] * 2], r, [torch.ones(4), torch.ones(3, 3)], is_grads_batched=True),
    lambda: torch.autograd.grad(r.sum(), r, torch.ones(()), is_grads_batched=True),
    lambda: jacrev(lambda x: W @ x)(u.clone().requires_grad_()),
]
for n, mapped in enumerate(MAPPED):
    print(n, end=" ")
    attempt(mapped)

# gradients of single examples, and several models at once
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
weights = {name: p.detach() for name, p in net.named_parameters()}


def loss(weights, x, y):
    return F.cross_entropy(functional_call(net, weights, (x[None],)), y[None])


singles = vmap(grad(loss), in_dims=(None, 0, 0))(weights, x, torch.tensor([1, 0]))
for name, p in singles.items():
    print(name, p.shape, torch.allclose(p[1], grad(loss)(weights, x[1], torch.tensor(0))[name]))
print(singles["2.bias"])
nets = [torch.nn.Linear(3, 2) for _ in range(3)]
parameters, buffers = stack_module_state(nets)
attempt(lambda: vmap(lambda p, b, x: functional_call(nets[0], (p, b), (x,)), in_dims=(0, 0, None))(parameters, buffers, x))
attempt(lambda: vmap(lambda p, b, x: functional_call(nets[0], (p, b), (x,)))(parameters, buffers, torch.ones(3, 2, 3)).sum())
convolution = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 2))
weights = {name: p.detach() for name, p in convolution.named_parameters()}
images = torch.randn(3, 1, 4, 4)
found = vmap(grad(lambda w, x: functional_call(convolution, w, (x[None],)).pow(2).sum()), (None, 0))(weights, images)
for name, p in found.items():
    print(name, p.shape, p.sum())
norm = torch.nn.BatchNorm1d(3)
attempt(lambda: vmap(norm)(torch.randn(2, 4, 3)))
norm.eval()
attempt(lambda: vmap(norm)(torch.randn(2, 4, 3)).shape)

# odd arguments, odd answers, and what gets out
whole, z, v = torch.tensor([1, 2]), torch.tensor([1 + 1j, 2]), torch.tensor([1.0, 2.0, 3.0])
kept = []


def written(blank):
    """A function that fills what it makes."""

    def function(x):
        y = blank(x)
        y[0] = x[0]
        y[1:] += x[1:]
        return y

    return function


ODD = [
    lambda: jacrev(lambda x: x * 2)(z),
    lambda: jacfwd(lambda x: x * 2)(z),
    lambda: hessian(lambda x: (x * x).sum())(z),
    lambda: jacrev(lambda x: x * 1j)(v),
    lambda: jacfwd(lambda x: x * 2, chunk_size=2)(v),
    lambda: jacrev(lambda x: x * 2)(whole),
    lambda: jacfwd(lambda x: x * 2)(whole),
    lambda: jvp(lambda x: x * 2, (whole,), (whole,)),
    lambda: jvp(lambda x: (x.argmax(), x), (v,), (v,)),
    lambda: jacrev(lambda x: x.argmax())(v),
    lambda: jacfwd(lambda x: x.argmax())(v),
    lambda: vjp(lambda x: (x.argmax(), x), v),
    lambda: jacrev(lambda x: x * 2)(torch.ones(0)),
    lambda: jacfwd(lambda x: x**2)(torch.tensor(3.0)),
    lambda: jacrev(lambda d: d["a"] * d["b"])({"a": v, "b": v}),
    lambda: jacfwd(lambda x: {"a": x * 2, "b": x.sum()})(v),
    lambda: jacrev(lambda x, y: x * 2, argnums=(0, 1))(v, v),
    lambda: jacfwd(lambda x: x * torch.rand(3))(v),
    lambda: jacfwd(lambda x: x * torch.rand(3), randomness="same")(v).shape,
    lambda: vmap(lambda pair: pair[0] + pair[1], in_dims=([0, None],))([x, v]),
    lambda: vmap(lambda x: (x, (x, x.sum())), out_dims=(0, (1, 0)))(x),
    lambda: vmap(lambda x: {"a": x}, out_dims={"a": 1})(x),
    lambda: vmap(lambda x: x, out_dims="a")(x),
    lambda: vmap(lambda x: ())(x),
    lambda: vmap(lambda x: None, out_dims=None)(x),
    lambda: (torch.manual_seed(0), vmap(lambda x: torch.rand(2), randomness="same", chunk_size=1)(x))[1],
    lambda: vmap(grad(lambda x: (x * x.detach()).sum()))(x),
    lambda: torch.no_grad()(lambda: vmap(grad(lambda x: (x**2).sum()))(x))(),
    lambda: torch.inference_mode()(lambda: vmap(lambda x: x * 2)(x))(),
    lambda: vmap(written(lambda x: torch.zeros(3)))(x),
    lambda: vmap(written(torch.zeros_like))(x),
    lambda: vmap(written(lambda x: x.new_zeros(3)))(x),
    lambda: vmap(lambda x: (kept.append(x), x)[1])(x),
    lambda: kept[0],
    lambda: kept[0] + 1,
    lambda: vmap(lambda x: f"{x.sum()}")(x),
    lambda: vmap(lambda x: sum(x))(x),
    lambda: vmap(lambda x: max(x[0], x[1]))(x),
    lambda: vmap(lambda x: np.asarray(x))(x),
    lambda: vmap(lambda x: torch.tensor([x[0], 1.0]))(x),
    lambda: vmap(lambda x: torch.tensor(x))(x),
    lambda: vmap(lambda x: torch.as_tensor(x))(x),
    lambda: vmap(lambda x: torch.full((2,), x[0]))(x),
]
for n, odd in enumerate(ODD):
    print(n, end=" ")
    attempt(odd)
