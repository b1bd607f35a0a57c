"""Operations on lists of tensors, remade views, and refusals of second derivatives."""

xs = [torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([0.5])]


def shown(name, *args, **kwargs):
    attempt(lambda: [x.detach() for x in getattr(torch, f"_foreach_{name}")(*args, **kwargs)])


for name in "abs exp sqrt neg sign clone round max".split():
    shown(name, xs)
for other in (2.0, [1.0, 2.0], xs, torch.tensor(3.0)):
    for name in "add sub mul div maximum minimum clamp_max pow".split():
        shown(name, xs, other)
shown("add", xs, xs, alpha=2)
shown("addcmul", xs, xs, xs, value=2.0)
shown("addcmul", xs, xs, xs, [1.0, 2.0])
shown("addcdiv", xs, xs, xs, torch.tensor([1.0, 2.0]))
shown("lerp", xs, xs, 0.5)
shown("pow", 2.0, xs)
shown("norm", xs)
shown("norm", xs, 1)
ys = [torch.ones(2), torch.ones(1)]
shown("add_", ys, 1)
shown("mul_", ys, ys)
shown("addcmul_", ys, ys, ys, value=2.0)
shown("copy_", ys, [torch.ones(2), torch.ones(1)])
shown("exp_", ys)
shown("zero_", ys)
print(ys)
shown("add", xs, [1.0])
shown("add", [], 1.0)
highest = torch._foreach_maximum(xs, [1.0, 0.0])
print(highest[0].grad_fn._saved_scalars, torch.autograd.grad(highest[0].sum(), xs[0]))
print(torch._unique(xs[0], return_inverse=True), torch._unique2(xs[0], return_counts=True), torch._VF.unique_dim(xs[0], 0))

base = torch.arange(12.0).view(3, 4)
for make in (
    lambda x: x.t(),
    lambda x: x[1:, ::2],
    lambda x: x.view(2, 6),
    lambda x: x.unsqueeze(-1).transpose(-1, -2).squeeze(1),
    lambda x: torch.view_as_complex(x.view(6, 2)),
    lambda x: x.split([1, 3], -1)[1].chunk(2, 0)[0],
):
    with torch.autograd._force_original_view_tracking(True):
        view, other = make(base.detach()), torch.ones(3, 4)
        print(view._view_func(other), view._view_func(torch.ones(2)), view._rev_view_func_unsafe(view.detach()))
print(torch.ones(2)._view_func(base))

one, zeros, places = torch.tensor([1.0]), torch.tensor([0.0, 0.0]), torch.tensor([0, 0])
for reduce in (torch.scatter_reduce, torch.index_reduce):
    source = zeros.clone().requires_grad_()
    (first,) = torch.autograd.grad(reduce(one, 0, places, source, "prod").sum(), source, create_graph=True)
    attempt(lambda: torch.autograd.grad(first.sum(), source))
power = torch.tensor([0.5 + 1j, 2j], requires_grad=True)
print(torch.autograd.grad(torch.pow(-torch.ones(2), power).abs().sum(), power))
print(torch.autograd.grad(torch.pow(-1, power).abs().sum(), power))
with torch.inference_mode():
    kept = torch.ones(2, requires_grad=True)
print(kept.view(1, 2).requires_grad, kept.view(1, 2).is_inference())
Node = torch.autograd.graph.Node
functions = torch._C._functions
print(issubclass(functions.DelayedError, Node), issubclass(Node, Node), isinstance(Node, Node), isinstance(functions.AccumulateGrad, Node))
a = torch.ones(1, 1, 2, 2, requires_grad=True)
for x, mode in ((a[0], "linear"), (a, "bilinear"), (a, "nearest")):
    node = torch.nn.functional.interpolate(x, scale_factor=0.5, mode=mode).grad_fn
    print([(name, getattr(node, name)) for name in dir(node) if name.startswith("_saved")])
print(torch.nn.functional.conv2d(a, torch.ones(1, 1, 1, 1)).grad_fn._saved_bias_sym_sizes_opt)
node = torch.nn.functional.unfold(a, 2).grad_fn
print([(name, getattr(node, name)) for name in dir(node) if name.startswith("_saved")])
