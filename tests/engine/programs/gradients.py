"""What a backward gives and leaves behind: sums, shared memory, versions, ends that are not asked for."""

a, b = (torch.tensor(x, requires_grad=True) for x in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))


class Loud(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        print("backward", ctx.needs_input_grad, torch.is_grad_enabled())
        x, y = ctx.saved_tensors
        return grad * y, grad * x


def same_memory(x, y):
    return x.data_ptr() == y.data_ptr()


def show(*tensors):
    print([None if t is None else (t.tolist(), t._version, t.requires_grad, t.stride()) for t in tensors])


# sums: how often the leaf's gradient was written
for uses in range(1, 5):
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    total = sum((leaf * (k + 1) for k in range(uses)), torch.zeros(2))
    total.sum().backward()
    show(leaf.grad)
    total = sum((leaf * (k + 1) for k in range(uses)), torch.zeros(2))
    total.sum().backward()
    show(leaf.grad)

# one gradient for two leaves
(a + b).backward(torch.ones(3))
show(a.grad, b.grad)
print(same_memory(a.grad, b.grad))
a.grad += 1
show(a.grad, b.grad)
a.grad = b.grad = None
given = torch.ones(3)
(a + b).backward(given)
print(same_memory(a.grad, given), same_memory(b.grad, given), given._version)
a.grad = b.grad = None
(a + a).backward(given)
show(a.grad, given)
a.grad = None
first, second = torch.autograd.grad((a + b).sum(), (a, b))
show(first, second)
print(same_memory(first, second))

# only what is asked for
y = Loud.apply(a, b * 2)
show(*torch.autograd.grad(y.sum(), b, retain_graph=True))
show(*torch.autograd.grad(y.sum(), a, retain_graph=True))
print(a.grad, b.grad)
y.sum().backward(inputs=[a])
show(a.grad, b.grad)
a.grad = None
middle = a * b
rows = torch.stack([middle, middle + 1]).unbind()
show(*torch.autograd.grad((rows[1] * middle).sum(), (middle, rows[1], a), retain_graph=True))
show(*torch.autograd.grad(rows[1].sum(), (rows[0], rows[1], b), allow_unused=True, retain_graph=True))
attempt(lambda: torch.autograd.grad(rows[1].sum(), (rows[0], a), retain_graph=True))
show(*torch.autograd.grad(middle.sum(), (middle, b, middle), retain_graph=True))
show(*torch.autograd.grad(torch.igamma(a, b).sum(), b))
attempt(lambda: torch.autograd.grad(torch.igamma(a, b).sum(), a))
with torch.no_grad():
    view = a[:2]
show(*torch.autograd.grad((view * b[:2]).sum(), (b, view), allow_unused=True))

# gradients in the shape of what they are gradients of
wide = torch.arange(64 * 6, dtype=torch.float64).reshape(64, 6)
bias, column = torch.zeros(6, dtype=torch.float64, requires_grad=True), torch.zeros(64, 1, dtype=torch.float64, requires_grad=True)
((bias + column) * wide).sum().backward()
show(bias.grad)
print(torch.equal(bias.grad, wide.sum(0)), torch.equal(column.grad, wide.sum(1, True)))
single = torch.zeros(2, requires_grad=True)
(single * wide[:, :2] + bias[:2]).sum().backward()
print(single.grad, single.grad.dtype, bias.grad)

# an error on the way: what was whole is there
x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
h = x.exp()
out = h * w + w.sin()
h.data.mul_(1)
h.detach().mul_(2)
attempt(lambda: out.sum().backward())
show(x.grad, w.grad)
x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
loss = (x.exp() * w).sum()
loss.backward()
attempt(loss.backward)
print(x.grad, w.grad)
mean = (x * w).mean()
print(mean.backward(), mean.grad_fn._saved_self_sym_sizes if hasattr(mean.grad_fn, "_saved_self_sym_sizes") else None)
