"""Who holds tensors and nodes, and when they are let go."""

import gc
import weakref


class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y, x.clone()

    @staticmethod
    def backward(ctx, gradient, other):
        return gradient + other


class Thing:
    pass


gc.disable()
x = torch.ones(3, requires_grad=True)
counts = [x._use_count()]
y = x * 2
counts.append(x._use_count())
z = y.sin() + y
counts += [x._use_count(), y._use_count(), z._use_count()]
z.sum().backward()
counts += [x._use_count(), y._use_count()]
del y, z
counts.append(x._use_count())
product = x * x
counts.append(x._use_count())
view, apart = x.view(3, 1), x.detach()
counts += [x._use_count(), view._use_count(), apart._use_count()]
del product, view
counts.append(x._use_count())
first, second = (x * 3).split([1, 2])
counts.append(x._use_count())
del first
counts.append(x._use_count())
del second
print(counts, x._use_count())

for make in (lambda x: (x.exp(), None), Kept.apply):
    middle = x + 1
    held = weakref.ref(middle)
    result = (make(middle)[0] * middle).sum()
    del middle
    print(held() is None, end=" ")
    result.backward(retain_graph=True)
    print(held() is None, end=" ")
    result.backward()
    print(held() is None)

# hooks, and cycles through them
for looped in (False, True):
    for place in ("tensor", "node"):
        result, thing = Kept.apply(x)[0], Thing()
        node, gone = result.grad_fn, weakref.ref(thing)

        def hook(*gradients, thing=thing, node=node if looped else None):
            pass

        (result if place == "tensor" else node).register_hook(hook)
        result.sum().backward()
        del result, node, hook, thing
        before = gone() is None
        gc.collect()
        print(looped, place, before, gone() is None)
gc.enable()
