"""In-place ops on leaves, views, overlapping memory; inference mode; modes as decorators."""

a = torch.arange(6.0).reshape(2, 3).requires_grad_()


def g(n, d=4):
    return None if n is None or not d else (n.name(), [g(m, d - 1) for m, _ in n.next_functions])


def s(x):
    return (x.shape, x.stride(), x._version, x._is_view(), x.requires_grad, g(x.grad_fn), x.storage_offset())


for code in [
    "x=a*1; y=x.t_()",
    "x=a*1; y=x.transpose_(0,1)",
    "x=(a*1).unsqueeze(0).clone(); y=x.squeeze_()",
    "x=(a*1).unsqueeze(0).clone(); y=x.squeeze_(0)",
    "x=a*1; y=x.unsqueeze_(0)",
    "x=a*1;y=x.swapaxes_(0,1)",
    "x=a*1;y=x.as_strided_((2,2),(1,2))",
    "b=a*1; x=b[:, :2]; y=x.t_()",
    "b=torch.ones(2,3); x=b[:,:2]; y=x.t_()",
    "x=a; y=a.t_()",
    "x=torch.ones(2,3); y=x.t_()",
    "x=a*1; v=x[0]; y=x.t_(); print(s(v))",
    "x=a*1; v=x.view(6); y=v.unsqueeze_(0); print(s(x))",
    "x=a.detach(); y=x.t_(); print(a.shape)",
    "x=a*1; y=x.resize_(3)",
    "x=torch.ones(2,3); y=x.resize_(4,4)",
    "x=torch.ones(2,3); y=x.set_(torch.ones(5))",
    "x=a*1; y=x.set_(torch.ones(5))",
    "x=torch.ones(2); x.requires_grad_(); y=x.set_(torch.ones(5))",
    "x=torch.ones(2,3); x.data=torch.ones(4); y=x",
    "x=torch.ones(2,3,requires_grad=True); x.data=torch.ones(4); y=x",
    "x=a*1; x.data=torch.ones(4); y=x",
    "x=torch.ones(2,3); x.data=torch.ones(4,dtype=torch.int64); y=x",
    "x=torch.ones(2,3,requires_grad=True); x.data=torch.ones(4,dtype=torch.int64); y=x",
    "x=torch.ones(2); x.data=1;y=x",
    "x=(a*1).detach_(); y=x",
    "x=(a*1)[0].detach_(); y=x",
    "x=torch.ones(2,3); x[0].requires_grad_(); y=x",
    "x=torch.ones(2,3)[0]; x.requires_grad_(); y=x",
    "x=a*1; x.requires_grad=False;y=x",
    "x=a.requires_grad_(1);y=x",
    "x=torch.ones(2); x.requires_grad=1;y=x",
    "x=torch.ones(2,dtype=torch.int64).requires_grad_(); y=x",
    "x=a*1; y=x.squeeze_(5)",
    "x=a*1; y=x.t_().t_()",
    "x=torch.ones(2,2,2); y=x.t_()",
    "x=a*1; y=x.data; print(y._version, x._version); y.mul_(2); print(x._version)",
    "x=a*1; y=x.detach(); y.mul_(2); print(x._version)",
    "x=a*1; y=x.detach(); y.t_(); print(x.shape)",
    "x=a*1; y=x.detach(); y.resize_(9)",
    "x=torch.ones(3).expand(2,3); y=x.add_(1)",
    "x=torch.ones(3).expand(2,3); y=x.zero_()",
    "x=torch.ones(3).expand(2,3); y=x.fill_(3)",
    "x=torch.ones(3).expand(2,3); y=x.copy_(torch.ones(2,3))",
    "x=torch.ones(3).expand(2,3); x[0]=1;y=x",
    "x=torch.ones(3,3); y=x.add_(x.t())",
    "x=torch.ones(3,3); y=x[1:].add_(x[:-1])",
    "x=torch.ones(3,3); y=x.mul_(x)",
    "x=torch.ones(3); y=x[1:].copy_(x[:-1])",
    "x=torch.ones(3); y=x.add_(x[0])",
    "x=torch.ones(3); x[:2]=x[1:];y=x",
    "x=torch.ones(3,3); y=x.copy_(x.t())",
    "x=torch.ones(6).as_strided((3,2),(1,1)); y=x.add_(1)",
    "x=torch.ones(6).as_strided((3,2),(1,1)); y=x.exp_()",
    "x=torch.ones(3).expand(2,3); y=x.masked_fill_(x>0,2)",
    "x=torch.ones(3).expand(2,3); y=x.index_fill_(0,torch.tensor([0]),2)",
    "x=torch.ones(3).expand(2,3); y=x.uniform_()",
    "x=torch.ones(3).expand(2,3); y=x.index_put_((torch.tensor([0]),),torch.tensor(2.))",
    "x=torch.ones(3).expand(2,3); y=x.clamp_(0,1)",
    "x=torch.ones(4); y=x[::2].add_(x[1::2])",
    "x=torch.ones(3,3); y=x.addmm_(x,x)",
    "x=torch.ones(3,3); y=x.where(x>0,x)",
    "x=torch.ones(3); y=torch.where(x>0,x[1:],x[:2])",
]:
    try:
        print(code, "->", end=" ", flush=True)
        exec(code)
        print(s(y))
    except Exception as e:
        print(type(e).__name__, "|", e)
with torch.inference_mode():
    i = torch.ones(3)
    j = i[1:]
for f in [
    lambda: i.add_(1),
    lambda: i * a[0],
    lambda: i._version,
    lambda: i.requires_grad_(),
    lambda: (i * 2).is_inference(),
    lambda: j.is_inference(),
    lambda: i[0].is_inference(),
    lambda: i.detach().is_inference(),
    lambda: torch.ones(3).is_inference(),
    lambda: i.data.is_inference(),
    lambda: i.view(3).add_(1),
    lambda: i.set_(torch.ones(2)),
]:
    attempt(f)


def f():
    x = a * 1
    with torch.inference_mode():
        v = x[0]
        x.add_(1)
        w = x * 2
        print(v.is_inference(), v._is_view(), w.requires_grad, x._version, torch.is_inference_mode_enabled(), torch.is_grad_enabled())
    v.add_(1)


attempt(f)


def f():
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
        print(x.requires_grad, (x * 2).requires_grad, (x * 2).is_inference())
        return x


attempt(f)


def f():
    with torch.inference_mode():
        with torch.inference_mode(False):
            x = torch.ones(2, requires_grad=True)
            return (x * 2).grad_fn


attempt(f)


def f():
    with torch.inference_mode():
        with torch.enable_grad():
            return (a * 2).grad_fn, torch.is_grad_enabled(), torch.is_inference_mode_enabled()


attempt(f)


@torch.inference_mode
def h():
    return torch.ones(2).is_inference()


attempt(h)


@torch.no_grad
def h():
    return torch.is_grad_enabled()


attempt(h)


@torch.no_grad()
def h():
    yield torch.is_grad_enabled()
    yield torch.is_grad_enabled()


attempt(lambda: (list(h()), torch.is_grad_enabled()))
attempt(lambda: torch.set_grad_enabled(1))
attempt(lambda: torch.no_grad().__enter__())
torch.set_grad_enabled(True)
attempt(lambda: torch.set_grad_enabled(False))
attempt(lambda: torch.is_grad_enabled())
torch.set_grad_enabled(True)
attempt(lambda: torch.no_grad)
attempt(lambda: torch.autograd.no_grad)


# a leaf that is made to stand on other memory: graphs from before lead to what it was
leaf = torch.tensor([1.0, 2.0], requires_grad=True)
edge, old = torch.autograd.graph.get_gradient_edge(leaf), leaf.sin()
with torch.no_grad():
    leaf.set_(torch.tensor([3.0, 4.0, 5.0]))
print(leaf.is_leaf, leaf.grad_fn, leaf.requires_grad, leaf)
attempt(lambda: torch.autograd.grad(old.sum(), leaf, retain_graph=True))
attempt(lambda: torch.autograd.grad(old.sum(), edge, retain_graph=True))
new = leaf * 2
ends = [(leaf * factor).grad_fn.next_functions[0][0] for factor in (2, 3)]
print(ends[0].name(), ends[0] is ends[1], ends[0] is edge.node)
attempt(lambda: torch.autograd.grad(new.sum(), [leaf, edge], retain_graph=True, allow_unused=True))
new.sum().backward()
print(leaf.grad)
attempt(lambda: old.sum().backward())
leaf.register_hook(lambda gradient: print("hook", gradient))
leaf.register_post_accumulate_grad_hook(lambda tensor: print("accumulated", tensor.grad))
(leaf * leaf).sum().backward()
attempt(lambda: torch.autograd.grad((leaf * leaf).sum(), leaf))
attempt(lambda: leaf.add_(1))
attempt(lambda: leaf.view(3).add_(1))
(leaf * 2).sum().backward(inputs=[leaf])
print(leaf.grad, leaf.requires_grad_(False).requires_grad)
with torch.no_grad():
    attempt(lambda: torch.ones(2, requires_grad=True).resize_(1))
