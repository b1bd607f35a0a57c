"""Where tangents lie, who shares them, and what a jvp may answer."""

fw = torch.autograd.forward_ad
Function = torch.autograd.Function
parts = fw.unpack_dual


def tangent(x):
    return parts(x).tangent


with fw.dual_level():
    plain, direction = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
    dual = fw.make_dual(plain, direction)
    attempt(lambda: fw.make_dual(plain, dual))
    print(tangent(dual) is direction, tangent(plain))
    dual.mul_(3)
    print(direction, tangent(dual) is direction, direction._version, plain)
    part = dual[:1]
    print(tangent(part)._base is direction, tangent(dual.view(2, 1).t())._base is direction)
    part.mul_(2)
    print(direction, dual, part)
    print(tangent(dual.clone()) is direction, tangent(dual.detach()), tangent(dual + 0) is direction)
    copy = dual.clone()
    copy.detach_()
    print(parts(copy))

    page = torch.zeros(2, 2)
    row, other = page[0], page[1]
    row.copy_(dual)
    print(tangent(page), tangent(other), tangent(row)._base is tangent(page))
    page.fill_(3.0)
    print(parts(page), parts(row))
    column = page.t()
    column[0] = dual
    print(parts(page))

    tall = fw.make_dual(torch.ones(2, 3).t(), torch.ones(3, 2))
    print(tangent(tall).stride(), tangent(tall.t()).stride())
    few = torch.arange(5.0)[:4].detach()
    given = torch.arange(4.0)
    wide = fw.make_dual(few, given)
    print(tangent(wide) is given, parts(wide.as_strided((5,), (1,), 0)))

    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    towards = torch.tensor([3.0, 4.0], requires_grad=True)
    both = fw.make_dual(leaf, towards)
    print(parts(both).primal.grad_fn is not None, both.grad_fn)
    with torch.no_grad():
        silent = both * 3
    print(silent, silent.requires_grad, tangent(silent).requires_grad)
    print(torch.autograd.grad(tangent(both * both).sum(), (leaf, towards)))
    print(tangent(both.detach() * 2))
print(parts(dual), fw._current_level, fw._is_fwd_grad_enabled())
with fw._set_fwd_grad_enabled(False):
    print(fw._is_fwd_grad_enabled())
print(fw._is_fwd_grad_enabled())


def function(forward, jvp):
    body = dict(forward=staticmethod(forward), jvp=staticmethod(jvp), vjp=staticmethod(lambda ctx, *grads: grads[0]))
    return type("Pushed", (Function,), body)


def pushed(forward, jvp, *others, requires_grad=False):
    with fw.dual_level():
        x = torch.ones(2, requires_grad=requires_grad)
        answer = function(forward, jvp).apply(fw.make_dual(x * 1, torch.ones(2)), *others)
        answers = answer if isinstance(answer, tuple) else (answer,)
        return [tangent(y) if isinstance(y, torch.Tensor) else y for y in answers]


def marks(ctx, x):
    result = x.clone()
    ctx.mark_non_differentiable(result)
    return x * 2, result


def writes(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def told(ctx, *given):
    print("given", given)
    return given[0]


def saves(ctx, x):
    ctx.save_for_backward(x)
    ctx.save_for_forward(x, x)
    return x * 2


for requires_grad in (False, True):

    def tried(*args, requires_grad=requires_grad):
        attempt(lambda: pushed(*args, requires_grad=requires_grad))

    tried(lambda ctx, x: x * 2, lambda ctx, t: t * 3)
    tried(lambda ctx, x: x * 2, lambda ctx, t: (t, t))
    tried(lambda ctx, x: (x * 2, x * 3), lambda ctx, t: t)
    tried(lambda ctx, x: x * 2, lambda ctx, t: 3)
    tried(lambda ctx, x: x * 2, lambda ctx, t: torch.ones(3))
    tried(lambda ctx, x: x, lambda ctx, t: t)
    tried(lambda ctx, x: x, lambda ctx, t: t * 2)
    tried(lambda ctx, x: x, lambda ctx, t: t.view_as(t))
    tried(lambda ctx, x: x[:1], lambda ctx, t: t[:1])
    tried(lambda ctx, x: x[:1], lambda ctx, t: t[:1].clone())
    tried(lambda ctx, x: (x * 2, 5, "a", None), lambda ctx, t: (t, None, None, None))
    tried(lambda ctx, x: (x * 2, torch.tensor(3)), lambda ctx, t: (t, t))
    tried(marks, lambda ctx, t: (t, t))
    tried(marks, lambda ctx, t: (t, None))
    tried(writes, lambda ctx, t: t)
    tried(writes, lambda ctx, t: t * 2)
    tried(writes, lambda ctx, t: t.mul_(2))
    tried(lambda ctx, x, y: x * 2, told, 5)
    tried(lambda ctx, x, y: x * 2, told, torch.ones(2))
    tried(lambda ctx, x, y: x * 2, told, torch.ones(2, dtype=torch.int64))
    tried(saves, lambda ctx, t: t * len(ctx.saved_tensors))


# what a Function may write, and see once
class Once(Function):
    clear_saved_tensors_on_access = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        print(ctx.saved_tensors)
        return ctx.saved_tensors[0]


class Narrow(Function):
    @staticmethod
    def forward(ctx, x, pure, more):
        ctx._is_pure_view = pure
        return (x[:1], x * 2) if more else x[:1]

    @staticmethod
    def backward(ctx, *grads):
        return torch.ones(2) * 7, None, None


leaf = torch.ones(2, requires_grad=True)
attempt(lambda: Once.apply(leaf).sum().backward())
for pure in (False, True):
    view = Narrow.apply(leaf * 1, pure, False)
    attempt(lambda: view.mul_(5).grad_fn)
    attempt(lambda: torch.autograd.grad(view.sum(), leaf))
    attempt(lambda: Narrow.apply(leaf * 1, pure, True)[0])


class Marks(Function):
    @staticmethod
    def forward(ctx, x, view):
        made = x.clone().view_as(x) if view else x.clone()
        ctx.mark_dirty(made)
        return made

    @staticmethod
    def backward(ctx, grad):
        return grad, None


for view in (False, True):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        attempt(lambda: Marks.apply(leaf * 1, view))
    print([str(warning.message).split(" (Triggered")[0] for warning in caught])
freed = Once.apply(leaf * 1)
try:
    freed.sum().backward()
except RuntimeError:
    pass
attempt(lambda: freed.grad_fn.saved_tensors)
attempt(lambda: freed.grad_fn._raw_saved_tensors)


def mapped(tangent):
    with fw.dual_level():
        return fw.unpack_dual(fw.make_dual(torch.zeros(2), tangent))[1]


attempt(lambda: torch.vmap(mapped)(torch.ones(3, 2)))
