"""What may be read and not written: attributes of tensors, nodes and contexts; arguments by name; the mode in which hooks pack."""


def attempt(what, *args):
    try:
        print(what.__name__, *args[1:2], what(*args))
    except (AttributeError, TypeError, RuntimeError) as error:
        print(type(error).__name__, error)


x = torch.ones(2, requires_grad=True)
y = (x * 2).sum()
leaf = y.grad_fn.next_functions[0][0].next_functions[0][0]
print([name for name in dir(leaf) if not name.startswith("__")])
for name in ("next_functions", "metadata", "requires_grad", "variable", "name", "register_hook", "_input_metadata", "other"):
    attempt(setattr, leaf, name, 3)
    attempt(delattr, leaf, name)
for name in ("next_functions", "metadata", "_saved_self_sym_sizes", "requires_grad", "_sequence_nr"):
    attempt(setattr, y.grad_fn, name, 3)
    attempt(delattr, y.grad_fn, name)
attempt(setattr, (x * x).grad_fn, "_raw_saved_self", None)
for name in ("grad_fn", "is_leaf", "shape", "dtype", "ndim", "_version", "_base", "T", "device", "retains_grad", "layout", "nbytes"):
    attempt(setattr, x, name, 3)
    attempt(delattr, x, name)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, c=5, *rest, k=1):
        for name in ("saved_tensors", "metadata", "next_functions", "requires_grad"):
            attempt(setattr, ctx, name, 3)
        print(a is x, b, c, rest, k)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        print(ctx.needs_input_grad)
        return tuple(grad if needed else None for needed in ctx.needs_input_grad)


class Apart(torch.autograd.Function):
    @staticmethod
    def forward(a, b=2, *, k=1):
        return a * b

    @staticmethod
    def setup_context(ctx, inputs, output):
        print(inputs)


for args, named in (
    ((x, 1), {}),
    ((x,), {"b": 2}),
    ((), {"b": 2, "a": x}),
    ((), {"a": 1, "b": x}),
    ((x, 1, 2, 3), {}),
    ((x, 1), {"b": 2}),
    ((x, 1), {"k": 2}),
    ((x, 1), {"d": 2}),
    ((x, 1), {"ctx": 2}),
    ((x,), {"c": 2}),
):
    try:
        Scaled.apply(*args, **named).sum().backward()
    except TypeError as error:
        print(error)
for args, named in (((x,), {}), ((x,), {"k": 2}), ((x,), {"a": 1})):
    try:
        Apart.apply(*args, **named)
    except TypeError as error:
        print(error)


def told(tensor):
    print(torch.is_grad_enabled(), tensor.requires_grad)
    return tensor


with torch.autograd.graph.saved_tensors_hooks(lambda tensor: told(tensor).numpy(), lambda array: torch.from_numpy(array)):
    z = x**2
z.sum().backward()
(z := x**2).grad_fn._raw_saved_self.register_hooks(told, told)
z.grad_fn._saved_self
z.sum().backward()
a = torch.tensor(1.0, requires_grad=True)
d = (c := a * 2) * 3
for inputs in ([torch.ones(1)], [a, torch.ones(1)], [c, a], [3], "a"):
    attempt(lambda inputs: d.backward(inputs=inputs, retain_graph=True), inputs)
    print(c.grad, a.grad)
for name in ("retain_graph", "create_graph"):
    for value in ("x", 1.5, 1, None):
        attempt(lambda value: (a * 2).backward(**{name: value}), value)
