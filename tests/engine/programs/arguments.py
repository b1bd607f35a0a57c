"""What backward, grad, hooks and `.grad` refuse, and their words."""

a = torch.ones(2, 3, requires_grad=True)
y = a * 2


def named(r):
    def f(*x):
        return r

    return f


def run(setup):
    a = torch.ones(2, 3, requires_grad=True)
    y = a * 2
    setup(a, y)
    y.sum().backward()


for r in (1, torch.ones(3), torch.ones(2, 3, dtype=torch.float64), (torch.ones(2, 3),)):
    attempt(lambda: run(lambda a, y: y.register_hook(named(r))))
    attempt(lambda: run(lambda a, y: y.grad_fn.register_prehook(named(r))))
    attempt(lambda: run(lambda a, y: y.grad_fn.register_hook(named(r))))
attempt(lambda: run(lambda a, y: y.grad_fn.register_hook(named((torch.ones(2, 3), torch.ones(1))))))
attempt(lambda: run(lambda a, y: y.grad_fn.register_hook(named((None, None)))))
attempt(lambda: run(lambda a, y: y.grad_fn.register_hook(named((torch.ones(2, 3), torch.ones(2, 3))))))
attempt(lambda: run(lambda a, y: y.grad_fn.register_prehook(named((torch.ones(2, 3), torch.ones(2, 3))))))
attempt(lambda: run(lambda a, y: a.register_post_accumulate_grad_hook(named(1))))
attempt(lambda: y.register_post_accumulate_grad_hook(named(1)))
attempt(lambda: y.register_hook(1))
attempt(lambda: torch.ones(2).register_hook(named(1)))
attempt(lambda: torch.ones(2).register_post_accumulate_grad_hook(named(1)))
attempt(lambda: y.grad_fn.register_hook(1))
attempt(lambda: (y.retain_grad(), torch.ones(2).retain_grad()))
for v in (1, torch.ones(2), torch.ones(2, 3, dtype=torch.float64), a):

    def s(v=v):
        a.grad = v

    attempt(s)
b = torch.ones(2)


def s():
    b.grad = torch.ones(2)
    return b.grad


attempt(s)


def s():
    del a.grad
    return a.grad


attempt(s)
i = torch.ones(2, dtype=torch.int64)


def s():
    i.grad = torch.ones(2, dtype=torch.int64)


attempt(s)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    (a * 2).grad
    print(w[-1].message, w[-1].category)
    (a * 2).sum().backward(create_graph=True)
    print(w[-1].message)
for args in [
    dict(),
    dict(gradient=torch.ones(2)),
    dict(gradient=1),
    dict(gradient=torch.ones(2, 3, dtype=torch.int64)),
    dict(gradient=torch.ones(2, 3, dtype=torch.complex64)),
    dict(inputs=[]),
    dict(inputs=[torch.ones(2)]),
    dict(inputs=y),
    dict(gradient=torch.ones(2, 3), inputs=[1]),
    dict(gradient=torch.ones(2, 3, dtype=torch.float64)),
]:
    attempt(lambda: (a * 2).backward(**args))
attempt(lambda: torch.autograd.backward([]))
attempt(lambda: torch.autograd.backward([y, y], [torch.ones(2, 3)]))
attempt(lambda: torch.autograd.backward(1))
attempt(lambda: torch.autograd.backward([1]))
attempt(lambda: torch.autograd.backward(y, grad_tensors=torch.ones(2, 3), grad_variables=torch.ones(2, 3)))
z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
attempt(lambda: (z * 2).sum().backward())
attempt(lambda: (a > 0).sum().backward())
attempt(lambda: torch.ones(2).backward())
G = torch.autograd.grad
attempt(lambda: G(y, a))
attempt(lambda: G((a * 2).sum(), []))
attempt(lambda: G((a * 2).sum(), torch.ones(2)))
attempt(lambda: G((a * 2).sum(), torch.ones(2, requires_grad=True)))
attempt(lambda: G((a * 2).sum(), torch.ones(2, requires_grad=True), allow_unused=True))
attempt(lambda: G((a * 2).sum(), torch.ones(2, requires_grad=True), materialize_grads=True))
attempt(lambda: G((a * 2).sum(), torch.ones(2, requires_grad=True), allow_unused=False, materialize_grads=True))
attempt(lambda: G((a * 2).sum(), 1))
attempt(lambda: G(1, a))
attempt(lambda: G((a * 2), a, torch.ones(2)))
attempt(lambda: G([a * 2, a * 3], a, torch.ones(2, 3)))
attempt(lambda: G((a * 2), a, 1))
attempt(lambda: G((a * 2), a, [None]))
attempt(lambda: G(torch.ones(1), a))
attempt(lambda: G((a * 2).sum(), a, is_grads_batched=True))
attempt(lambda: G((a * 2), a, torch.ones(4, 2, 3), is_grads_batched=True))
attempt(lambda: G((a * 2), a, torch.ones(2, 3), is_grads_batched=True))
attempt(lambda: G((a * 2).sum(), a, only_inputs=False))
attempt(lambda: G([a.sum()], [a, a]))
attempt(lambda: G([], [a]))
