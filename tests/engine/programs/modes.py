"""Generators in a mode of their own, however they are driven, and old names of torch.autograd."""

import importlib
import warnings

importlib.import_module(f"{torch.__spec__.name}.autograd._functions")


class Recovered(Exception):
    pass


def recording(n=4):
    """A generator that tells the mode it runs in, outlives one error and sees itself closed."""
    for i in range(n):
        try:
            got = yield i, torch.is_grad_enabled()
            print("    got", got, torch.is_grad_enabled())
        except Recovered:
            print("    recovered", torch.is_grad_enabled())
        except GeneratorExit:
            print("    closed", torch.is_grad_enabled())
            raise
    return "done", torch.is_grad_enabled()


def outlived(generator):
    """Throw until it ends."""
    try:
        while True:
            print("   ", generator.throw(Recovered), torch.is_grad_enabled())
    except StopIteration as end:
        print("    ended with", end.value, torch.is_grad_enabled())


for mode in (torch.no_grad(), torch.enable_grad(), torch.set_grad_enabled(False), torch.inference_mode()):
    torch.set_grad_enabled(True)
    print(type(mode).__name__)
    make = mode(recording)
    for outside in (True, False):
        with torch.set_grad_enabled(outside):
            print(list(make(2)), torch.is_grad_enabled())
            generator = make()
            next(generator)
            print(generator.send("this"), torch.is_grad_enabled())
            outlived(generator)
            generator = make()
            next(generator)
            generator.close()
            try:
                make().throw(ValueError("before the first step"))
            except ValueError as error:
                print("   ", error, torch.is_grad_enabled())

torch.set_grad_enabled(True)
print(torch.autograd.torch is torch, torch.autograd._calculate_shape(torch.ones(2, 3), torch.ones(4, 2, 3), True))
x = torch.arange(6.0, requires_grad=True)
resized = torch.autograd._functions.Resize.apply(x, (2, 3))
print(resized, torch.autograd.grad(resized[0].sum(), x))
try:
    torch.autograd._functions.Resize.apply(x, (2, 2))
except RuntimeError as error:
    print(error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    retyped = torch.autograd._functions.Type.apply(x, torch.float64)
print(retyped, torch.autograd.grad(retyped.sum(), x), [str(warning.message) for warning in caught])
