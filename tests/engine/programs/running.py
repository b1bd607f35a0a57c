"""What hooks can ask of the backward they run in, and what becomes of gradients that never come."""

import warnings

C, grad = torch._C, torch.autograd.grad


def tried(what, act):
    try:
        print(what, act())
    except Exception as error:
        print(what, f"{type(error).__name__}: {error}")


def named(node):
    return node and node.name()


# outside of a backward
for question in ("_current_autograd_node", "_current_graph_task_id", "_current_graph_task_execution_order"):
    tried(question, getattr(C, question))
tried("keeps", C._autograd._get_current_graph_task_keep_graph)
w = torch.tensor([1.0, 2.0], requires_grad=True)
h = w * 3
loss = h.exp().sum()
leaf = h.grad_fn.next_functions[0][0]
tried("will run, outside", lambda: C._will_engine_execute_node(h.grad_fn))
tried("will run, a tensor", lambda: C._will_engine_execute_node(h))


# inside: which node, which of them will run
def where(kind):
    return lambda *given: print("   ", kind, named(C._current_autograd_node()), C._autograd._get_current_graph_task_keep_graph())


def who_runs(gradient):
    for node in (loss.grad_fn, h.grad_fn, leaf):
        tried(f"    {node.name()} will run:", lambda: C._will_engine_execute_node(node))


for node in (h.grad_fn, leaf):
    node.register_prehook(where("before"))
    node.register_hook(where("after"))
for tensor in (w, h):
    tensor.register_hook(where("tensor"))
w.register_post_accumulate_grad_hook(where("accumulated"))
loss.register_hook(who_runs)
for what, act in {
    "backward": lambda: loss.backward(retain_graph=True),
    "backward to the leaf": lambda: loss.backward(inputs=[w], retain_graph=True),
    "backward to the result": lambda: loss.backward(inputs=[h], retain_graph=True),
    "grad of the leaf": lambda: grad(loss, w, retain_graph=True),
    "grad of the result": lambda: grad(loss, h, retain_graph=True),
    "several roots": lambda: torch.autograd.backward([loss, h], [None, torch.ones(2)], retain_graph=True),
    "for good": lambda: loss.backward(),
}.items():
    print(what)
    act()

numbers = []
t = torch.ones(1, requires_grad=True) * 1
t.register_hook(lambda gradient: numbers.append(C._current_graph_task_id()))
for _ in range(3):
    t.sum().backward(retain_graph=True)
print("counted", [number - numbers[0] for number in numbers])


class Inside(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        print("a backward within:", C._current_autograd_node() is ctx)
        with torch.enable_grad():
            inner = torch.ones(2, requires_grad=True).cos()
            inner.register_hook(where("inner"))
            inner.sum().backward()
        print(C._current_autograd_node() is ctx)
        return gradient


Inside.apply(w).sum().backward()


# the order
def order(gradient):
    print("   ", [node.name() for node in C._current_graph_task_execution_order()])


a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
p = a.sin() * b
q, other = (p + a).sum(), p.sum()
q.register_hook(order)
other.register_hook(order)
with torch.autograd.set_multithreading_enabled(False):
    for targets in (None, [a], [b], [p]):
        q.backward(inputs=targets, retain_graph=True)
        if targets:
            grad(other, targets, retain_graph=True)
with torch.autograd.set_multithreading_enabled(True):
    tried("order with threads", lambda: q.backward())


# nodes asked for while what they saved is unpacked
class Halving(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        super().__init__(lambda tensor: tensor, self.unpack)

    def unpack(self, tensor):
        node = C._current_autograd_node()
        print("unpacking for", node.name())
        node.register_hook(lambda answers, gradients: print(gradients) or tuple([None if x is None else x / 2 for x in answers]))
        return tensor


x = torch.tensor([1.0, 4.0], requires_grad=True)
with Halving():
    y = x.pow(2)
y.sum().backward()
print(x.grad)


# gradients that never come
class First(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


def saw(kind):
    return lambda *given: print("   ", kind, *given)


u, v = (torch.ones(2, requires_grad=True) for _ in range(2))
v.register_hook(saw("tensor"))
v.register_post_accumulate_grad_hook(lambda tensor: print("    accumulated", tensor.grad))
leaf = v.view_as(v).grad_fn.next_functions[0][0]
leaf.register_prehook(saw("before"))
leaf.register_hook(saw("after"))
First.apply(u, v).sum().backward()
print(grad(First.apply(u, v).sum(), [v], allow_unused=True))
r = v * 2
r.retain_grad()
r.register_hook(saw("tensor of a result"))
First.apply(u, r).sum().backward()
print(r.grad)
one, two = torch.arange(2.0, requires_grad=True).unbind()
one.register_hook(saw("the first of two"))
two.backward()
v = torch.ones(2, requires_grad=True)
v.register_hook(lambda gradient: torch.ones(2))
tried("in place of None", lambda: First.apply(u, v).sum().backward())
lost = C._functions.UndefinedGrad()(u * 2)
print(lost, lost.grad_fn.name(), [named(node) for node, _ in lost.grad_fn.next_functions])
print(grad(lost.sum(), u, allow_unused=True))

# errors that wait for a gradient
late = C._functions.DelayedError("too late", 2)(u, torch.ones(3))
print(late[0], [x.grad_fn.name() for x in late], [named(node) for node, _ in late[0].grad_fn.next_functions])
tried("late", lambda: grad(late[0].sum(), u))
tried("late, but not asked for", lambda: grad((late[0] + u).sum(), late[0]))
tried("too few", lambda: C._functions.DelayedError("too late", 2)(u))
tried("no tensor", lambda: C._functions.DelayedError("too late", 1)(3))


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * y, None, gradient * x


v = torch.ones(2, requires_grad=True)
found = grad(Once.apply(u, 3, v), [u, v], torch.ones(2, requires_grad=True), create_graph=True)
print([(x.grad_fn.name(), x.output_nr, [named(node) for node, _ in x.grad_fn.next_functions]) for x in found])
tried("twice", lambda: found[0].sum().backward())

# what hooks after accumulation may return, and leaves that no longer ask
for returned in (None, 1, torch.ones(2), torch.ones(3)):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda tensor: returned)
    tried("hook after accumulation", lambda: x.sum().backward())
x = torch.ones(2, requires_grad=True)
y = x * 2
x.requires_grad_(False)
y.sum().backward()
print("no longer asks", x.grad)


# saved_tensors_hooks that a backward leaves or enters
def leave(tensor):
    outer.__exit__()
    return tensor


outer = torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, leave)
with torch.autograd.graph.saved_tensors_hooks(lambda tensor: print("packed") or tensor, lambda tensor: tensor):
    outer.__enter__()
    x.requires_grad_().sin().sum().backward()
    print("over")
    x.sin()
    outer.__exit__()
    x.sin()
x.sin()

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.set_warn_always(True)
    for _ in range(2):
        torch.ones(2, requires_grad=True).exp().sum().backward(create_graph=True)
    torch.set_warn_always(False)
    x.volatile, setattr(x, "volatile", True)
for warning in caught:
    print(warning.category.__name__, warning.message)
