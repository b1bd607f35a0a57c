"""Views that compute: conjugates, negatives, parts of complex numbers; writes through them, and the graph afterwards."""


def names(node):
    if node is None:
        return None
    inner = ",".join(str(names(edge[0])) for edge in node.next_functions)
    return f"{type(node).__name__}({inner})" if inner else type(node).__name__


x = torch.tensor([1 + 2j, 3 + 4j])
c = x.conj()
for name in "clone detach contiguous resolve_conj conj conj_physical flatten t".split():
    answer = getattr(c, name)()
    print(name, answer, answer.is_conj(), answer.is_neg(), answer._is_view())
for answer in (c.real, c.imag, c[0], c.view(1, 2), c.unbind()[0], c.expand(2, 2), torch.cat([c, c]), c + 0, x.view(1, 2).mH, c.conj().imag):
    print(answer, answer.is_conj(), answer.is_neg(), answer._is_view())
attempt(lambda: torch.view_as_real(c))
attempt(lambda: c.numpy())
attempt(lambda: c.imag.numpy())
attempt(lambda: c.view(torch.float32))
attempt(lambda: c.imag.view(torch.int32))
c.mul_(2j)
print(x, c, x._version)
x.add_(1)
print(c)
c.real.fill_(5)
print(x, c)
c.imag.mul_(3)
print(x, c)
c[0] = 1j
print(x, c)
x.real.zero_()
c.imag[0] = 9
print(x, c, x._version, c._version)
c.real = torch.tensor([7.0, 8.0])
x.imag = 0
print(x, c)
row = c.view(2, 1)[1]
del c
row.mul_(1j)
x[1] += 1
print(x, row)
torch.view_as_real(x)[0, 1] = 4
print(x, row.conj().conj(), row.conj().is_conj())
n = torch.ones(2)._neg_view()
print(n, n.is_neg(), n.resolve_neg().is_neg(), n._neg_view().is_neg(), n * 2)
attempt(lambda: torch.ones(2, dtype=torch.bool)._neg_view())
attempt(lambda: torch.ones(2, dtype=torch.int64)._neg_view())

a = torch.tensor([1 + 2j, 3 + 4j], requires_grad=True)


def replayed(view, write):
    """What the graph of a view and of its base are after a write to one of them."""
    z = a * 1
    seen = view(z)
    print(names(seen.grad_fn))
    write(z, seen)
    print(names(seen.grad_fn), names(z.grad_fn), z, seen)
    print(torch.autograd.grad(z.abs().sum() + seen.abs().sum(), a))


def scales_view(z, seen):
    seen.mul_(3)


def scales_base(z, seen):
    z.mul_(2j)


for view in (
    lambda z: z.conj(),
    lambda z: z.real,
    lambda z: z.imag,
    lambda z: torch.view_as_real(z),
    lambda z: torch.view_as_real(z)[0],
    lambda z: z.conj().imag,
    lambda z: z[1:].conj().view(1, 1),
    lambda z: torch.view_as_complex(torch.view_as_real(z)),
    lambda z: z._neg_view()[:1],
):
    replayed(view, scales_view)
    replayed(view, scales_base)

b = torch.tensor([[1.0, 2], [3, 4]], requires_grad=True)
y = b * 1
v = torch.view_as_complex(y)
v.mul_(1j)
print(names(v.grad_fn), names(y.grad_fn), y)
print(torch.autograd.grad((y * torch.tensor([[1.0, 2], [3, 4]])).sum(), b, create_graph=True))
with torch.no_grad():
    a.real.mul_(2)
print(a)
attempt(lambda: a.real.mul_(2))
attempt(lambda: a.conj().mul_(2))
print(names(a.conj().resolve_conj().grad_fn), names(a.conj().conj().grad_fn))
leaf = torch.tensor([1 + 1j]).conj().requires_grad_()
print(leaf.is_leaf, leaf.is_conj())
(leaf * leaf).abs().sum().backward()
print(leaf.grad)
(first,) = torch.autograd.grad((a.conj() * a).abs().sum(), a, create_graph=True)
print(torch.autograd.grad(first.abs().sum(), a))
with torch.autograd.forward_ad.dual_level():
    make, parts = torch.autograd.forward_ad.make_dual, torch.autograd.forward_ad.unpack_dual
    for sign in (lambda z: z, lambda z: z.conj(), lambda z: z._neg_view()):
        primal, tangent = sign(torch.tensor([1 + 2j])), torch.tensor([1j])
        dual = make(primal, tangent)
        print(parts(dual).tangent is tangent, parts(dual).tangent, dual.real, dual.imag)
