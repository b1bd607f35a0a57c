"""What nodes save, and what pack hooks see of it."""

a = torch.ones(2, requires_grad=True)
x = a * 2
x.register_hook(lambda g: print("h1", g))
x.mul_(3)
x.register_hook(lambda g: print("h2", g))
(x * 5).sum().backward()
x = a * 2
x.mul_(3)
x.register_hook(lambda g: print("h2", g))
(x * 5).sum().backward()
# leaf then history
b = torch.ones(2, requires_grad=True)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    for i in range(2):
        (a * 2).sum().backward(create_graph=True)
        (a * 2).grad
    print([str(x.message)[:20] for x in w])
log = []


def pack(x):
    log.append((x.requires_grad, x.grad_fn, x._version, x._is_view(), x.is_leaf))
    return x


with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
    y = a.exp()
    z = a * 2.0
    u = torch.tensor(2.0) * a
    v = a * y
    w_ = a.max(0)
    s = a.softmax(0)
    k = (a * 3)[torch.tensor([0, 1])]
    c = torch.where(a > 0, a, a)
    cc = a.prod()
for l in log:
    print(l)


def bad(x):
    x.mul_(2)
    return x


def f():
    with torch.autograd.graph.saved_tensors_hooks(bad, lambda x: x):
        y = (a * 1).exp()
    y.sum().backward()


attempt(f)


def f():
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: 1):
        y = (a * 1).exp()
    y.sum().backward()


attempt(f)


def f():
    with torch.autograd.graph.saved_tensors_hooks(1, 2):
        y = (a * 1).exp()


attempt(f)


def f():
    with torch.autograd.graph.disable_saved_tensors_hooks("no hooks!"):
        with torch.autograd.graph.saved_tensors_hooks(bad, lambda x: 1):
            y = (a * 1).exp()


attempt(f)


def f():
    with torch.autograd.graph.saved_tensors_hooks(bad, lambda x: 1):
        with torch.autograd.graph.disable_saved_tensors_hooks("no hooks!"):
            y = (a * 1).exp()


attempt(f)


def f():
    y = a.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)


attempt(f)


def f():
    y = a.exp()
    y.sum().backward()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)


attempt(f)


def f():
    y = a * torch.ones(2)
    y.grad_fn._raw_saved_self.register_hooks(lambda x: x, lambda x: x)


attempt(f)


def f():
    y = a * torch.ones(2)
    y.grad_fn._raw_saved_other.register_hooks(lambda x: x)


attempt(f)


def f():
    y = a * torch.ones(2)
    y.grad_fn._raw_saved_other.register_hooks(1, 2)


attempt(f)


def f():
    y = a * 2
    return y.grad_fn._raw_saved_self, y.grad_fn._saved_self, y.grad_fn.next_functions, y.grad_fn._input_metadata, y.grad_fn._raw_saved_other


attempt(f)
y = a.exp()
y.sum().backward()
attempt(lambda: y.grad_fn._saved_result)
y = a * torch.ones(2)
y.sum().backward()
attempt(lambda: y.grad_fn._saved_self)
attempt(lambda: y.grad_fn._saved_other)
