"""Custom Functions: marks, returns, errors."""

a = torch.ones(2, requires_grad=True)


def make(forward=None, backward=None, **kw):
    d = {}
    if forward:
        d["forward"] = staticmethod(forward)
    if backward:
        d["backward"] = staticmethod(backward)
    d.update({k: staticmethod(v) for k, v in kw.items()})
    return type("F", (torch.autograd.Function,), d)


fw = lambda ctx, x, *r: x * 2
bw = lambda ctx, g: g * 2
for n, f in enumerate(
    [
        lambda: make(fw).apply(a).sum().backward(),
        lambda: make(None, bw).apply(a),
        lambda: make(lambda ctx, x: 3, bw).apply(a),
        lambda: make(lambda ctx, x: (x * 2, 3, None, "s"), lambda ctx, *g: (print(g), g[0])[1]).apply(a),
        lambda: make(lambda ctx, x: (x * 2, 3), lambda ctx, *g: (print(g), g[0])[1]).apply(a)[0].sum().backward(),
        lambda: make(lambda ctx, x: None, bw).apply(a),
        lambda: make(lambda ctx, x: [x * 2], bw).apply(a),
        lambda: make(lambda ctx, x: (ctx.save_for_backward(1), x * 2)[1], bw).apply(a),
        lambda: make(lambda ctx, x: (ctx.save_for_backward([x]), x * 2)[1], bw).apply(a),
        lambda: make(lambda ctx, x: (ctx.mark_dirty(1), x * 2)[1], bw).apply(a),
        lambda: make(lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1], bw).apply(a * 1),
        lambda: make(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], bw).apply(a),
        lambda: make(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], bw).apply((a * 1)[:1]),
        lambda: make(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1], bw).apply((a * 1).unbind()[0]),
        lambda: make(lambda ctx, x: x, bw).apply(a),
        lambda: make(lambda ctx, x: x, bw).apply(a).mul_(2),
        lambda: make(lambda ctx, x: x[:1], bw).apply(a),
        lambda: make(lambda ctx, x: x[:1], bw).apply(a).mul_(2),
        lambda: make(lambda ctx, x: x[:1], lambda c, g: torch.cat([g, g])).apply(a * 1).mul_(2),
        lambda: make(lambda ctx, x: (x[:1], x[1:]), lambda c, g, h: torch.cat([g, h])).apply(a * 1)[0].mul_(2),
        lambda: make(fw, lambda c, g: (g, g)).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: (g, None)).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: (g, g)).apply(a, 1).sum().backward(),
        lambda: make(fw, lambda c, g: g).apply(a, 1).sum().backward(),
        lambda: make(fw, lambda c, g: ()).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: None).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: 1).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: "s").apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: [g]).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: torch.ones(3)).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: torch.ones(3, 2)).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: torch.ones(2, dtype=torch.float64)).apply(a).sum().backward(),
        lambda: make(fw, lambda c, g: torch.ones(2, dtype=torch.int64)).apply(a).sum().backward(),
        lambda: make(fw, bw).apply(x=a),
        lambda: make(fw, bw).apply(),
        lambda: make(fw, bw)(),
        lambda: make(fw, bw)()(a),
        lambda: make(lambda x: x * 2, bw, setup_context=lambda ctx, inputs, output: print(inputs, output)).apply(a),
        lambda: make(lambda x, k=2: x * k, bw, setup_context=lambda ctx, inputs, output: print(inputs, output)).apply(x=a),
        lambda: make(lambda x, k=2: x * k, bw, setup_context=lambda ctx, inputs, output: 1).apply(a),
        lambda: make(lambda x, k=2: x * k, bw, setup_context=lambda ctx, inputs, output: None).apply(a, 1, 2),
        lambda: make(fw, bw, vjp=bw).apply(a).sum().backward(),
        lambda: make(fw, None, vjp=bw).apply(a).sum().backward(),
        lambda: make(
            lambda ctx, x: (
                setattr(ctx, "needs", ctx.needs_input_grad),
                x * 2,
                print(
                    ctx.needs_input_grad, ctx.saved_tensors, ctx.to_save, ctx.materialize_grads, ctx.dirty_tensors, ctx.non_differentiable
                ),
            )[1],
            bw,
        ).apply(a),
        lambda: make(lambda ctx, x: (ctx.mark_non_differentiable(1), x * 2)[1], bw).apply(a),
        lambda: make(lambda ctx, x: (lambda y: (ctx.mark_non_differentiable(y), y)[1])(x * 2), bw).apply(a),
        lambda: make(lambda ctx, x: (ctx.mark_non_differentiable(x), x)[1], bw).apply(a),
        lambda: make(lambda ctx, x: (ctx.set_materialize_grads(1), x)[1], bw).apply(a),
        lambda: make(lambda ctx, x, l: x * 2, bw).apply(a, [a, a]).grad_fn.next_functions,
        lambda: make(lambda ctx, x, l: x * 2, bw).apply(1, a).grad_fn,
        lambda: make(lambda ctx, x: x > 0, bw).apply(a),
        lambda: make(lambda ctx, x: (x * 2, x > 0, x.int()), lambda c, *g: (print(g), g[0])[1]).apply(a)[0].sum().backward(),
        lambda: make(lambda ctx, x: (x * 2, x * 3), lambda c, *g: (print(g), g[0])[1]).apply(a)[0].sum().backward(),
        lambda: (
            make(lambda ctx, x: (ctx.set_materialize_grads(False), (x * 2, x * 3))[1], lambda c, *g: (print(g), g[0])[1])
            .apply(a)[0]
            .sum()
            .backward()
        ),
        lambda: make(lambda ctx, x: (lambda y: (y, y))(x * 2), lambda c, *g: (print(g), g[0])[1]).apply(a),
        lambda: make(lambda ctx, x: (x, x), lambda c, *g: (print(g), g[0])[1]).apply(a),
        lambda: make(lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2), (x, x))[2], lambda c, *g: (print(g), g[0])[1]).apply(a * 1),
        lambda: (
            make(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda c, *g: (print(c.saved_tensors), g[0])[1])
            .apply(a)
            .sum()
            .backward()
        ),
        lambda: (lambda y: (y.sum().backward(), y.grad_fn.saved_tensors))(
            make(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda c, *g: g[0]).apply(a)
        ),
        lambda: (lambda y: (y.sum().backward(), y.sum().backward()))(
            make(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda c, *g: (c.saved_tensors, g[0])[1]).apply(a)
        ),
        lambda: (lambda y: (y.sum().backward(), y.sum().backward()))(make(lambda ctx, x: x * 2, lambda c, *g: g[0]).apply(a)),
        lambda: torch.autograd.Function.apply(a),
        lambda: make(lambda x: x * 2, bw, setup_context=lambda ctx, inputs, output: ctx.save_for_forward(1)).apply(a),
        lambda: make(lambda x: x * 2, bw, setup_context=lambda ctx, inputs, output: ctx.save_for_forward(inputs[0])).apply(a),
    ]
):
    print(n, end=" ")
    attempt(f)
F = make(fw, bw)
print(F, F.apply, F._backward_cls, F.apply(a).grad_fn.metadata)
y = F.apply(a)
print(y.grad_fn.__class__, y.grad_fn.name(), y, y.grad_fn._raw_saved_tensors, repr(y.grad_fn._forward_cls))


# saved tensors that are given once, gradients in a list, inputs that are views
def tried(what, act):
    try:
        print(what, act())
    except Exception as error:
        print(what, f"{type(error).__name__}: {error}")


class OnlyOnce(torch.autograd.Function):
    clear_saved_tensors_on_access = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        x, nothing = ctx.saved_tensors
        tried("saved, asked again", lambda: ctx.saved_tensors)
        print(ctx._raw_saved_tensors)
        return gradient * x


class InAList(torch.autograd.Function):
    boxed_grads_call = True

    @staticmethod
    def forward(ctx, x, y):
        return x * 2, y * 3, "no tensor"

    @staticmethod
    def backward(ctx, gradients):
        print(gradients)
        first, second = gradients[:2]
        gradients.clear()
        return first * 2, second * 3


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x, "no tensor"

    @staticmethod
    def backward(ctx, gradient, _):
        return gradient * 2


p, q = (torch.tensor([1.0, 3.0], requires_grad=True) for _ in range(2))
once = OnlyOnce.apply(p)
tried("backward", lambda: once.sum().backward(retain_graph=True))
tried("backward again", lambda: once.sum().backward())
print(p.grad)
doubled, tripled, _ = InAList.apply(p, q)
tried("both", lambda: torch.autograd.grad((doubled * tripled).sum(), (p, q), retain_graph=True))
tried("one", lambda: torch.autograd.grad(doubled.sum(), (p, q)))
print([(list(known.shape), known.dtype, known.device) for known in doubled.grad_fn._input_metadata])
for what, x in {"a result": p.clone(), "a view of one": p.clone()[:1], "a view without history": p.detach().clone()[:1]}.items():
    tried(f"several outputs, one of them {what} written:", lambda: Doubled.apply(x)[0])


# an instance of a Function, which nobody needs
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    idle = OnlyOnce()
print([str(warning.message)[-40:] for warning in caught], isinstance(idle, OnlyOnce))
for (
    name
) in "next_functions _input_metadata metadata saved_tensors _raw_saved_tensors needs_input_grad requires_grad to_save nonsense".split():
    tried(name, lambda: getattr(idle, name))
tried("name", lambda: idle.name())
tried("called", lambda: idle(p))
idle.register_hook(print).remove()


# a node's backward, called by hand
doubled, tripled, _ = InAList.apply(p, q)
tried("in a list", lambda: doubled.grad_fn.apply(torch.ones(2), torch.ones(2) * 2, None))


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 2 + y

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2, gradient


node = Plain.apply(p, q).grad_fn
tried("by hand", lambda: node.apply(torch.ones(2)))
tried("without", lambda: node.apply())
tried("too many", lambda: node.apply(torch.ones(2), torch.ones(2)))
