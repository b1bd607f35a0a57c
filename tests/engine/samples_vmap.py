"""Functions mapped by vmap, one or more of every kind of batching rule; what PyTorch names the nodes of the batched computation."""

import ast

SETUP = """\
vmap, grad, hessian, jacfwd, jacrev, jvp, vjp = (getattr(torch.func, n) for n in "vmap grad hessian jacfwd jacrev jvp vjp".split())
f = torch.nn.functional
q = torch.stack([m, m.t() + 2]).detach().requires_grad_()
w = torch.arange(8, dtype=D).reshape(2, 4).sin().requires_grad_()
im = torch.arange(72, dtype=D).reshape(2, 1, 1, 6, 6).sin().requires_grad_()
cw = torch.arange(18, dtype=D).reshape(2, 1, 3, 3).cos().requires_grad_()
j = torch.tensor([[0, 2, 1], [1, 1, 0]])
l = torch.tensor([2, 0])
v = a.detach()[0]
"""


def mapped(arguments, *bodies):
    """vmap of functions of these arguments, in which they are called x and y."""
    count = len(ast.parse(f"vmap({arguments})").body[0].value.args)
    names = ", ".join("xyz"[:count])
    return [f"vmap(lambda {names}: {body})({arguments})" for body in bodies]


SAMPLES = [
    # element by element: ranks and dtypes brought together
    *mapped("a", "x.exp()", "x * 2", "2 - x", "x**2", "2**x", "x.clamp(0.5, 2)", "x * c", "c + x", "x * k", "x.relu()", "f.gelu(x)", "-x"),
    *mapped("a, b", "x * y", "x - y", "x / y", "x**y", "torch.maximum(x, y)", "torch.where(x > y, x, y)", "torch.addcmul(x, y, c)"),
    *mapped(
        "a[:, 0], b", "x + y", "y * x", "torch.atan2(x, y)", "torch.where(y > 1, x, y)", "x.float() + y", "x.float() + y.detach().long()"
    ),
    *mapped("a, t", "x.masked_fill(y, 0.0)", "torch.where(y, x, 0.0)", "c.masked_fill(y, 1.0)"),
    *mapped("a, b", "x > y", "x == c", "torch.logical_and(x > 1, y > 1)", "x.isnan()"),
    *mapped("i", "x // 2", "x % 3", "x & 1", "~x", "x << 1"),
    *mapped("z", "x.abs()", "x.conj()", "x * x", "torch.view_as_real(x)"),
    # along dimensions, over everything, of numbers
    *mapped("q", "x.sum()", "x.sum(0)", "x.sum((0, 1))", "x.mean(1, keepdim=True)", "x.mean()", "x.prod(0)", "x.logsumexp(0)", "x.var()"),
    *mapped("q", "x.std(0)", "x.amax()", "x.amin(1)", "x.max(0)", "x.max()", "x.norm()", "x.norm(dim=1)", "x.all()", "x.argmax(0)"),
    *mapped("q", "x.argmax()", "x.count_nonzero()", "x.median()", "x.median(0)", "x.nansum()", "x.aminmax(dim=0)", "x.aminmax()"),
    *mapped("a[:, 0]", "x.sum()", "x.max(0)", "x.softmax(0)", "x.sort()", "x.mean()", "x.cumsum(0)", "x.amax()", "x.norm()"),
    *mapped(
        "q", "x.softmax(0)", "x.log_softmax(-1)", "x.cumsum(0)", "x.cumprod(1)", "x.cummax(0)", "x.sort(0)", "x.topk(2)", "x.kthvalue(2)"
    ),
    # views
    *mapped("q", "x[0]", "x[:, 1]", "x[1:]", "x[..., 0]", "x[0, 1]", "x[None]", "x.t()", "x.T", "x.transpose(0, 1)", "x.permute(1, 0)"),
    *mapped(
        "q", "x.view(9)", "x.reshape(-1)", "x.T.reshape(-1)", "x.flatten()", "x.diagonal()", "x.unfold(0, 2, 1)", "x.unflatten(0, (3, 1))"
    ),
    *mapped(
        "q", "x.unbind()", "x.split(2)", "x.chunk(2, 1)", "x.expand(2, 3, 3)", "x[:1].squeeze(0)", "x[:1].squeeze()", "x.narrow(1, 0, 2)"
    ),
    *mapped("a[:, 0]", "x.expand(3)", "x[None]", "x.unsqueeze(0)", "x.squeeze()", "x.view(1)", "x.repeat(2)"),
    *mapped("q", "x.flip(0)", "x.roll(1)", "x.roll(1, 0)", "x.rot90()", "x.repeat(2, 1)", "x.repeat(2, 1, 1)", "x.tril()", "x.trace()"),
    *mapped("a", "x.diag()", "x.diag_embed()", "x.repeat(2)", "x.tile(2)", "f.pad(x, (1, 1))"),
    # joins and indices
    *mapped("a, b", "torch.cat([x, y])", "torch.stack([x, y])", "torch.cat([x, c])", "torch.stack([x, c], 1)", "torch.hstack([x, y])"),
    *mapped(
        "a, j", "x[y]", "c[y]", "x.gather(0, y)", "c.gather(0, y)", "x.index_select(0, y)", "x.scatter(0, y, 5.0)", "x.scatter_add(0, y, c)"
    ),
    *mapped(
        "q, j", "x[y]", "x[:, y]", "x[y, y]", "x[y[0]]", "x[y[0], 1:]", "x[None, y]", "x.gather(0, y[None])", "m[y]", "x.index_put((y,), x)"
    ),
    *mapped("q", "x[l]", "x[:, l]", "x[l, l]", "x.index_select(1, l)", "x.index_add(0, l, x[:2])", "x.index_fill(0, l, 1.0)"),
    *mapped("q", "x[torch.tensor([True, False, True])]", "x.take(l)"),
    # products
    *mapped("a, b", "x @ y", "x.outer(y)", "torch.dot(x, y)", "torch.inner(x, y)", "torch.linalg.vecdot(x, y)", "torch.cross(x, y, dim=0)"),
    *mapped("q, a", "x @ y", "y @ x", "x @ c", "c @ x", "m @ y", "y @ m", "x @ m", "m @ x", "x @ x", "x.mv(y)", "x.mm(x.t())"),
    *mapped("q, a", "torch.addmm(c, x, m)", "torch.addmv(y, x, y)", "torch.einsum('ij,j->i', x, y)", "torch.einsum('ij,jk', x, m)"),
    *mapped("q, a", "f.linear(y, m)", "f.linear(y, m, c)", "f.linear(x, m, c)", "f.linear(y, x, y)", "torch.bmm(x[None], x[None])"),
    # layers and losses
    *mapped("im", "f.conv2d(x, cw)", "f.conv2d(x, cw, k.expand(2))", "f.conv2d(x[0], cw)", "f.max_pool2d(x, 2)", "f.avg_pool2d(x, 2)"),
    *mapped("im, a[:, 0]", "f.conv2d(x, cw * y)", "f.conv2d(x, cw, y.expand(2))", "f.conv2d(im[0], cw * y)"),
    *mapped(
        "im",
        "f.interpolate(x, scale_factor=2, mode='bilinear')",
        "f.unfold(x, 3)",
        "f.grid_sample(x, torch.zeros(1, 2, 2, 2, dtype=D), align_corners=False)",
        "f.group_norm(x, 1)",
        "f.batch_norm(x, None, None, training=True)",
    ),
    *mapped("q", "f.layer_norm(x, (3,))", "f.layer_norm(x, (3,), c, c)", "f.layer_norm(x, (3,), x[0], x[1])", "f.normalize(x, dim=0)"),
    *mapped("j", "f.one_hot(x, 3)"),
    *mapped("q", "f.embedding(l, x)"),
    *mapped(
        "a, b",
        "f.mse_loss(x, y)",
        "f.mse_loss(x, y, reduction='sum')",
        "f.l1_loss(x, y)",
        "f.smooth_l1_loss(x, y, beta=0.3)",
        "f.huber_loss(x, y)",
    ),
    *mapped("a, b", "f.binary_cross_entropy(x.sigmoid(), y.sigmoid())", "f.binary_cross_entropy_with_logits(x, y)"),
    *mapped("q, j", "f.cross_entropy(x, y)", "f.cross_entropy(x[0], y[0])", "f.nll_loss(x.log_softmax(1), y, reduction='sum')"),
    # matrices, spectra
    *mapped(
        "q",
        "torch.linalg.inv(x)",
        "torch.linalg.det(x)",
        "torch.linalg.solve(x, c)",
        "torch.linalg.cholesky(x @ x.T)",
        "torch.linalg.qr(x)",
    ),
    *mapped("a", "torch.fft.fft(x)", "torch.fft.rfft(x)"),
    # new tensors
    *mapped(
        "a",
        "x.new_zeros(2) + x[0]",
        "torch.zeros_like(x) + x",
        "x.new_full((2,), 3.0) * x[1]",
        "torch.ones(3, dtype=D) * x",
        "x.new_ones(())",
    ),
    # in place
    *mapped(
        "a.clone()", "x.add_(1)", "x.mul_(c)", "x.copy_(c)", "x.zero_()", "x.exp_()", "x.squeeze_()", "x.unsqueeze_(0)", "x[0].mul_(2)"
    ),
    *mapped(
        "a, b",
        "c.detach().add_(x)",
        "c.detach().mul_(x)",
        "x.detach().clone().mul_(y[0]) * y",
        "v.clone().copy_(x)",
        "v.clone().index_put_((l,), x[:2])",
    ),
    *mapped("a.clone(), b", "x.clamp_(0, 1)", "x.addcmul_(y, y)", "x.cumsum_(0)", "x.fill_(y[0])", "x[0:2].mul_(y[1])", "x.lerp_(y, 0.5)"),
    *mapped("a.clone(), b, j", "x.scatter_(0, z, y)", "x.index_put_((z,), y, accumulate=True)", "x.scatter_add_(0, z, y)"),
    *mapped("a", "x.requires_grad_()", "x.data", "x.untyped_storage()", "c.detach().scatter_(0, l, x[:2])", "x.retain_grad()"),
    *mapped(
        "q", "x.renorm(2, 0, 1.0)", "x.histc(3)", "torch.vander(x[0])", "f.cross_entropy(x, x.detach().argmax(1), label_smoothing=0.1)"
    ),
    # where the batch stands before and after
    "vmap(lambda x: x * 2, in_dims=1)(a)",
    "vmap(lambda x: x * 2, out_dims=1)(a)",
    "vmap(lambda x: x * 2, 1, -1)(a)",
    "vmap(lambda x: (x.sum(), c), out_dims=(0, None))(a)",
    "vmap(lambda x: c * 2)(a)",
    "vmap(lambda x: k * 2)(a)",
    "vmap(lambda x: x, out_dims=1)(a)",
    "vmap(lambda x, y: x * y, in_dims=(0, None))(a, c)",
    "vmap(lambda d: d['x'] * d['y'], in_dims=({'x': 0, 'y': None},))({'x': a, 'y': c})",
    "vmap(lambda x: (x * 2, x.sum()), chunk_size=1)(a)",
    "vmap(lambda x: x * 2)(a[:0])",
    "vmap(lambda x: x.sum())(a[:1])",
    "vmap(vmap(lambda x, y: x * y, (0, None)), (None, 0))(c, a)",
    "vmap(vmap(lambda x: x.sum()))(q)",
    "vmap(vmap(torch.dot, (None, 0)), (0, None))(a, b)",
    "vmap(lambda x: vmap(lambda y: x @ y)(q))(a)",
    "vmap(lambda x: vmap(lambda y: x[:, y])(j))(q)",
    # what cannot be done
    *mapped("a", "x.item()", "x[0].item()", "float(x[0])", "bool(x[0] > 1)", "x if x.sum() > 1 else -x", "x.tolist()", "x.numpy()"),
    *mapped("a", "x.nonzero()", "x[x > 1]", "x.masked_select(x > 1)", "x.unique()", "torch.equal(x, x)", "torch.allclose(x, x)"),
    *mapped(
        "a",
        "torch.rand(2)",
        "torch.rand_like(x)",
        "f.dropout(x, 0.5)",
        "x.data_ptr()",
        "torch.autograd.grad(x.sum(), x)",
        "x.sum().backward()",
    ),
    *mapped("a, b", "x + y[:2]", "x @ m[:2]", "x.sum(2)", "f.one_hot(l[0] + x.long())"),
    "vmap(lambda x: x, out_dims=None)(a)",
    "vmap(lambda x: x, out_dims=3)(a)",
    "vmap(lambda x: x.shape)(a)",
    # with derivatives
    "vmap(grad(lambda x: (x**3).sum()))(a)",
    "vmap(grad(lambda w, x: (w * x).sin().sum()), in_dims=(None, 0))(v, a)",
    "vmap(jacrev(torch.sin))(a.detach())",
    "vmap(vjp(torch.sin, v)[1])(m.detach())",
    "jacrev(lambda x: x**2)(c)",
    "jacrev(torch.sin)(c)",
    "jacrev(lambda x: m.detach() @ x)(c)",
    "jacrev(lambda x: x * x.sum())(v)",
    "jacrev(lambda x: (x.sum(), x * 2))(c)",
    "jacrev(lambda x: x**2, chunk_size=2)(v)",
    "jacrev(lambda x: x**2, chunk_size=1)(v)",
    "jacrev(vmap(lambda x: x.sum()))(a.detach())",
    "grad(lambda w: vmap(grad(lambda x: (x * x * w).sum()))(a.detach()).sum())(v)",
    "vmap(lambda g: torch.autograd.grad((c**2), c, g)[0])(m.detach())",
    "torch.autograd.grad(c**2, c, m.detach(), is_grads_batched=True)",
    "torch.autograd.functional.jacobian(lambda x: x**2, c, vectorize=True)",
    "torch.autograd.functional.jacobian(lambda x, y: (x * y, x.sum()), (c, k), vectorize=True)",
    "torch.autograd.functional.hessian(lambda x: (x**3).sum(), c, vectorize=True)",
]
