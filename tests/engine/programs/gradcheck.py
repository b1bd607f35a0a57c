"""gradcheck and gradgradcheck."""

gradcheck, gradgradcheck, Function = torch.autograd.gradcheck, torch.autograd.gradgradcheck, torch.autograd.Function
D = torch.float64
x = torch.tensor([1.0, 2.0, 0.5], dtype=D, requires_grad=True)
y = torch.tensor([[0.3, 0.2, 0.7], [1.0, 2.0, 0.4]], dtype=D, requires_grad=True)
z = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128, requires_grad=True)


class Bad(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class Const(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return torch.full_like(g, 2)


class Undef(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 if g is not None else torch.ones(3, dtype=D)


n = [0]


class Nondet(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        n[0] += 1
        return g * 2 + (n[0] % 2) * 1e-7 * (g != 0)


class WrongSize(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g[:2]


attempt(lambda: gradcheck(torch.sin, x))
attempt(lambda: gradcheck(torch.mul, (x, y)))
attempt(lambda: gradcheck(lambda x: (x * 2, x.exp()), x))
attempt(lambda: gradgradcheck(torch.sin, x))
attempt(lambda: gradgradcheck(lambda x, y: (x * y).exp(), (x, y)))
attempt(lambda: gradcheck(Bad.apply, x))
attempt(lambda: gradcheck(Bad.apply, x, raise_exception=False))
attempt(lambda: gradcheck(Const.apply, x))
attempt(lambda: gradcheck(Undef.apply, x))
attempt(lambda: gradcheck(Nondet.apply, x))
attempt(lambda: gradcheck(WrongSize.apply, x))
attempt(lambda: gradcheck(torch.sin, x.detach()))
attempt(lambda: gradcheck(torch.sin, torch.ones(3, requires_grad=True)))
attempt(lambda: gradcheck(lambda x: x.detach() * 2, x))
attempt(lambda: gradcheck(lambda x: x.round(), x))
attempt(lambda: gradcheck(torch.sin, x, check_forward_ad=True))
attempt(lambda: gradcheck(torch.mul, (x, y), check_forward_ad=True))
attempt(lambda: gradcheck(Bad.apply, x, check_forward_ad=True, check_backward_ad=False))
attempt(lambda: gradcheck(lambda z: z * z, z))
attempt(lambda: gradcheck(torch.abs, z))
attempt(lambda: gradcheck(lambda z: z * z, z, check_forward_ad=True))
attempt(lambda: gradgradcheck(lambda z: z * z * z, z))
attempt(lambda: gradcheck(lambda z: Bad.apply(z), z))
attempt(lambda: gradcheck(torch.sin, x, check_backward_ad=False))
attempt(lambda: gradcheck(lambda x, k: x * k, (x, 3.0)))
attempt(lambda: gradcheck(torch.sin, x[:1].expand(3)))
attempt(lambda: gradcheck(torch.sin, x, fast_mode=True))
attempt(lambda: gradgradcheck(Bad.apply, x))
attempt(lambda: gradcheck(lambda x: Bad.apply(x).sum(), x, eps=1e-3, atol=1e-9))
attempt(lambda: gradcheck(torch.sin, x, check_batched_grad=True))
attempt(lambda: gradcheck(lambda x: x * 2, torch.ones(0, dtype=D, requires_grad=True)))
attempt(lambda: torch.autograd.gradcheck)
attempt(lambda: torch.autograd.gradcheck.GradcheckError)
