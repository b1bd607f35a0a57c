"""When hooks of every kind are called, with what, and what becomes of what they return."""

log = []


def seen(name):
    """A hook that notes its name and the shapes it is given."""

    def hook(*given):
        log.append((name, shapes(given)))

    return hook


def shapes(value):
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    return [shapes(item) for item in value] if isinstance(value, tuple) else value


def told(what):
    print(what)
    for line in log:
        print("   ", *line)
    log.clear()


x = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
w = torch.tensor([[1.0], [2.0]], requires_grad=True)
y = x * w
z = y.exp()
for name, tensor in (("x", x), ("w", w), ("y", y), ("z", z)):
    tensor.register_hook(seen(f"tensor {name}"))
for name, tensor in (("y", y), ("z", z)):
    tensor.grad_fn.register_prehook(seen(f"before {name}"))
    tensor.grad_fn.register_hook(seen(f"after {name}"))
x.register_post_accumulate_grad_hook(seen("accumulated x"))
leaf = y.grad_fn.next_functions[0][0]
leaf.register_prehook(seen("before accumulating x"))
leaf.register_hook(seen("after accumulating x"))

z.sum().backward(retain_graph=True)
told("backward")
torch.autograd.grad(z.sum(), y, retain_graph=True)
told("grad of a result")
torch.autograd.grad(z.sum(), [x, y], retain_graph=True)
told("grad of a leaf and a result")
z.sum().backward(inputs=[w], retain_graph=True)
told("backward to one leaf")
z.sum().backward(inputs=[y], retain_graph=True)
told("backward to a result")
print(y.retains_grad, y.grad.shape)
torch.autograd.grad(z.sum(), x, retain_graph=True, create_graph=True)
told("grad with a graph")
torch.autograd.grad(z, torch.ones(1, requires_grad=True), torch.ones(2, 3), retain_graph=True, allow_unused=True)
told("grad of a stranger")

# what hooks return
a = torch.ones(2, requires_grad=True)
b = a * 3
first = b.register_hook(lambda g: g * 10)
b.register_hook(lambda g: g + 1)
b.sum().backward(retain_graph=True)
print(a.grad)
first.remove()
first.remove()
a.grad = None
b.sum().backward(retain_graph=True)
print(a.grad, len(b._backward_hooks), a._backward_hooks)
with b.register_hook(lambda g: g * 0):
    a.grad = None
    b.sum().backward(retain_graph=True)
    print(a.grad)
a.grad = None
b.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
b.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 100, None))
b.sum().backward()
print(a.grad)

# a hook that writes into its gradient, and one that holds its own handle
c = torch.ones(2, requires_grad=True)
d = c * 1
d.register_hook(lambda g: g.mul_(5))
handle = c.register_hook(lambda g: handle.remove())
d.backward(torch.ones(2))
print(c.grad, len(c._backward_hooks))

# retain_grad: last of all, on views and after writes
e = torch.ones(2, requires_grad=True).clone()
e.register_hook(lambda g: g * 7)
e.retain_grad()
e.retain_grad()
f = e * 2
e.sum().backward(retain_graph=True)
f.sum().backward()
print(e.grad, e.retains_grad, f.retains_grad)
g = torch.ones(2, 2, requires_grad=True).clone()
g.retain_grad()
g.register_hook(lambda grad: print("the old one", grad))
g.mul_(3)
g.register_hook(lambda grad: print("the new one", grad))
(g * 2).sum().backward()
print(g.grad)

# a hook may run a backward of its own
h = torch.ones(1, requires_grad=True)
k = torch.ones(1, requires_grad=True)
i = h * 2
i.register_hook(torch.enable_grad()(lambda grad: (k * 4).sum().backward()))
i.backward()
print(h.grad, k.grad)

# an error in a hook goes to the caller, and the graph can run again
m = torch.ones(1, requires_grad=True)
n = m.exp()
bad = n.register_hook(lambda grad: 1 / 0)
attempt(lambda: n.backward())
bad.remove()
attempt(lambda: n.backward())
print(m.grad)


# gradients of another dtype than their leaf
class Widened(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient.double()


for dtype in (torch.float16, torch.float64, None):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad_dtype = dtype
    print(x.grad_dtype, torch.autograd.grad(Widened.apply(x).sum(), x), torch.autograd.grad((x * x).sum(), x, create_graph=True))
    Widened.apply(x).sum().backward()
    (x * 3).sum().backward()
    print(x.grad, x.detach().grad_dtype)
    x.register_hook(lambda gradient: print("    hook", gradient.dtype))
    (Widened.apply(x).sum() + x.sum()).backward(create_graph=True)
    print(x.grad)
    for other in (torch.float32, None, dtype):
        attempt(lambda: setattr(x, "grad_dtype", other))
    x.grad = None
    x.grad_dtype = torch.float16
    attempt(lambda: setattr(x, "grad", torch.ones(2)))
    attempt(lambda: setattr(x, "grad", torch.ones(2, dtype=torch.float16)))
result = x * 2
attempt(lambda: result.grad_dtype)
attempt(lambda: setattr(result, "grad_dtype", torch.float16))
attempt(lambda: setattr(x, "grad_dtype", "float16"))
print(torch.ones(2, dtype=torch.int64).grad_dtype)

# a hook after accumulation may return the leaf itself, and nothing else
leaf = torch.zeros(3, requires_grad=True)
handle = leaf.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.5))
leaf.backward(torch.tensor([1.0, 2.0, 3.0]))
print(leaf)
handle.remove()
for hook in lambda p: p.grad, lambda p: p.data.add_(1), lambda p: 3:
    handle = leaf.register_post_accumulate_grad_hook(hook)
    try:
        leaf.backward(torch.ones(3))
    except (RuntimeError, TypeError) as e:
        print(type(e).__name__, e)
    handle.remove()
