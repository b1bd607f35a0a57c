"""Views that are written, and bases written under their views: versions, nodes, gradients, refusals."""


def walk(node, depth=5):
    if node is None or not depth:
        return "..." if node is not None else None
    return f"{node.name()}({', '.join(str(walk(next, depth - 1)) for next, _ in node.next_functions)})"


def state(**tensors):
    for name, t in tensors.items():
        try:
            print(name, t.shape, t._version, t._is_view(), t.requires_grad, walk(t.grad_fn))
        except RuntimeError as error:
            print(name, "|", error)


def root():
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


# through a view, and through a view of a view
r = root()
x = r * 1
v, u = x[0], x.view(-1)[2:4]
v.mul_(2)
u.exp_()
state(x=x, v=v, u=u)
x.sum().backward()
print(r.grad)
# the base under its views
r = root()
x = r.clone()
v, t, e = x[:, 1], x.t(), x.unsqueeze(0).expand(2, 2, 3)
x.mul_(r)
state(v=v, t=t, e=e)
(v.sum() + t.sum() + e.sum()).backward()
print(r.grad)
# a base without history that gets one through a view
x = torch.zeros(2, 3)
v, w = x[0], x[1]
v.copy_(root()[0])
state(x=x, v=v, w=w)
# what may not be written
r = root()
x = r.clone()
parts = x.unbind()
with torch.no_grad():
    quiet = x[0]
attempt(lambda: parts[0].add_(1))
attempt(lambda: quiet.add_(1))
attempt(lambda: r[0].add_(1))
attempt(lambda: r.add_(1))
with torch.no_grad():
    parts[0].add_(1)
    quiet.add_(1)
state(x=x, part=parts[0], quiet=quiet)
x.add_(1)
state(part=parts[0], quiet=quiet)
attempt(lambda: x.split(1)[0].view(-1).mul_(2))
# saved, then written
r = root()
x = r * 2
y = x.sin()
x[0] = 0
attempt(lambda: y.sum().backward())
x = r * 2
y = x.exp()
y.view(-1)[0] = 7
attempt(lambda: y.sum().backward())
x = r * 2
y = x + 1
x.zero_()
attempt(lambda: y.sum().backward())
print(r.grad)
# second derivatives through a write
r = root()
x = r.clone()
x[:, 0] *= r[:, 1].detach()
x[1] = r[1] ** 2
(g,) = torch.autograd.grad(x.sum(), r, create_graph=True)
print(g, walk(g.grad_fn, 2))
print(torch.autograd.grad(g.sum(), r))
# detached, and data
x = root() * 1
d, p = x.detach(), x.data
d[0] = 9
state(x=x, d=d)
p[1] = 8
state(x=x, p=p)
print(x)
# leaves and flags
x = torch.zeros(3)
v = x[1:]
x.requires_grad_()
state(x=x, v=v)
attempt(lambda: v.zero_())
attempt(lambda: (x * 2).requires_grad_(False))
attempt(lambda: x[0].detach_())
