"""gradcheck in fast mode, in forward mode, and on several gradients at once: what passes, and what is said of what does not."""

check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
Function = torch.autograd.Function
forward_ad = torch.autograd.forward_ad


def leaf(*sizes, dtype=torch.float64):
    return (
        torch.linspace(0.3, 1.7, 4 if not sizes else int(np.prod(sizes)), dtype=torch.float64)
        .reshape(sizes or (4,))
        .to(dtype)
        .requires_grad_()
    )


def said(function):
    """The answer, or the error with its numbers rounded."""
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, "|", error)


def hooked(x):
    y = x.clone()
    y.register_hook(lambda grad: grad + 0.01)
    return y


class Wrong(Function):
    @staticmethod
    def forward(ctx, x, back, fore):
        ctx.back, ctx.fore = back, fore
        return x * 2

    @staticmethod
    def vjp(ctx, grad):
        return grad * ctx.back, None, None

    @staticmethod
    def jvp(ctx, t, *others):
        return t * ctx.fore


for fast in (True, False):
    said(lambda: check(lambda x: x.sin() * 2, leaf(), fast_mode=fast))
    said(lambda: check(torch.mul, (leaf(2, 2), leaf(2, 2)), fast_mode=fast, check_forward_ad=True, check_batched_grad=True))
    said(lambda: check(lambda z: z * z.conj(), leaf(dtype=torch.complex128), fast_mode=fast, check_forward_ad=True))
    said(lambda: check(lambda z: (z.abs(), z * 1j), leaf(2, dtype=torch.complex128), fast_mode=fast))
    said(lambda: twice(lambda x, y: (x * y).exp(), (leaf(2), leaf(2)), fast_mode=fast, check_fwd_over_rev=True))
    said(lambda: check(hooked, leaf(2), fast_mode=fast))
    said(lambda: check(hooked, leaf(2), fast_mode=fast, raise_exception=False))
    said(lambda: check(Wrong.apply, (leaf(2), 3, 2), fast_mode=fast))
    said(lambda: check(Wrong.apply, (leaf(2), 2, 3), fast_mode=fast, check_forward_ad=True))
    said(lambda: check(Wrong.apply, (leaf(2, dtype=torch.complex128), 3, 2), fast_mode=fast))
    said(lambda: check(Wrong.apply, (leaf(2, dtype=torch.complex128), 2, 3), fast_mode=fast, check_forward_ad=True))
    said(lambda: check(lambda x: torch.tensor([float(x.sum())]), leaf(1), fast_mode=fast))
    said(lambda: check(lambda x: (), leaf(1), fast_mode=fast))
    said(lambda: check(lambda x: torch.cat([x, x]) if bool((x >= 0.3).all()) else x, leaf(1), fast_mode=fast))
    said(lambda: check(lambda x: x, torch.ones(2), fast_mode=fast))
    said(lambda: check(lambda x: x * 1, leaf(0, 3), fast_mode=fast, check_forward_ad=True))
said(lambda: check(torch.sin, leaf(), check_forward_ad=False, check_backward_ad=False))
said(lambda: check(torch.sin, leaf(), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True))
said(lambda: check(torch.sin, leaf(), check_batched_forward_grad=True))


class Counts(Function):
    calls = 0

    @staticmethod
    def forward(ctx, x, y):
        return x.clone(), y.clone()

    @staticmethod
    def jvp(ctx, x_t, y_t):
        Counts.calls += 1
        return x_t, y_t


def calls(*inputs, **options):
    Counts.calls = 0
    check(Counts.apply, inputs, check_forward_ad=True, check_backward_ad=False, **options)
    return Counts.calls


plain = torch.ones(1, dtype=torch.float64)
for fast in (True, False):
    print(calls(leaf(1), leaf(1), fast_mode=fast, check_undefined_grad=False))
    print(calls(leaf(1), leaf(1), fast_mode=fast))
    print(calls(leaf(1), plain, fast_mode=fast))
    print(calls(leaf(1), leaf(1), fast_mode=fast, check_batched_forward_grad=True))
    print(calls(leaf(1), plain, fast_mode=fast, check_batched_forward_grad=True))


class Draws(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def vjp(ctx, grad):
        return grad * 2

    @staticmethod
    def jvp(ctx, t):
        torch.randn_like(t)
        return t * 2


try:
    check(Draws.apply, leaf(), check_forward_ad=True, check_batched_forward_grad=True)
except RuntimeError as error:
    print(str(error).splitlines()[0].split(" Please")[0])
numerical, analytical = (check.__globals__[f"get_{kind}_jacobian"] for kind in ("numerical", "analytical"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(numerical(lambda both: (both[0] * 2 + both[1],), (leaf(2), leaf(2)), eps=1e-6))
    x, y = leaf(2), leaf(2)
    print(analytical((x, y), 2 * x + y))
    said(lambda: analytical((x, y), 2 * x + y, grad_out=2.0))
    said(lambda: numerical(lambda both: both[0], (x, y), grad_out=2.0))
print([str(warning.message)[:60] for warning in caught])
