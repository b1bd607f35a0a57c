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


# views that are remade by the ops that made them, writes that are not counted
def flat(x, dim=None):
    out = x.clone().view(-1) if dim is None else x.clone().transpose(0, dim)[0]
    return out.add_(1)


remade = torch.autograd._force_original_view_tracking
x = torch.ones(2, 3, requires_grad=True)
for asked in (False, True):
    with remade(asked):
        out, row = flat(x), flat(x, 1)
        print(torch.autograd.is_view_replay_enabled(), out.grad_fn.name(), row.grad_fn.name(), row.grad_fn.next_functions[0][0].name())
        whole = x.clone()
        part, other = whole[0], whole.t()[1]
        part.mul_(2)
        other.mul_(3)
        print([v.grad_fn.name() for v in (whole, part, other)], torch.autograd.grad((part.sum() + 2 * other.sum() + whole.sum()), x))
    print(torch.autograd.is_view_replay_enabled(), flat(x).grad_fn.name())
remade(True)
print(torch.autograd.is_view_replay_enabled(), flat(x).grad_fn.name())
remade(False)


@remade(True)
def within():
    return flat(x).grad_fn.name()


print(within(), flat(x).grad_fn.name())

y = x.clone().add_(1)
z = torch.zeros(2)
with torch.autograd._unsafe_preserve_version_counter((y, z)):
    y.mul_(2)
    z.add_(1)
with torch.autograd._unsafe_preserve_version_counter(z):
    z.add_(1)
print(y._version, z._version, z)
for versions in ((3,), (-1,), (1, 2)):
    try:
        torch._C._autograd._unsafe_set_version_counter((z,), versions)
    except RuntimeError as error:
        print(error)
    print(z._version)
