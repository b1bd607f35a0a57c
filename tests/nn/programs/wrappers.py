"""What stands around a module: several devices, a compiler, and tensors that change places."""

import torch
from torch import nn


class Doubler(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.factor = 2

    def forward(self, x, shift=0):
        return self.inner(x) * self.factor + shift


torch.manual_seed(0)
spread = nn.DataParallel(Doubler())
print(spread, list(spread.state_dict()), spread.device_ids, type(spread), type(spread.module))
print(spread(torch.ones(3, 2), shift=1))
for make in lambda: nn.parallel.data_parallel(Doubler(), torch.ones(1, 2)), lambda: nn.parallel.DistributedDataParallel(Doubler()):
    try:
        print(make())
    except Exception as e:
        print(type(e).__name__, e)

model = Doubler()
compiled = torch.compile(model, backend="eager")
print(compiled, list(compiled.state_dict()), type(compiled))
print([name for name, _ in compiled.named_modules()], [name for name, _ in compiled.named_parameters()])
print(compiled(torch.ones(1, 2)).equal(model(torch.ones(1, 2))), compiled.inner is model.inner, compiled._orig_mod is model)
compiled.factor = 5
print(model.factor, compiled.training, compiled.eval().training, model.training, isinstance(compiled, Doubler))
print(compiled.load_state_dict(compiled.state_dict()))


@torch.compile(backend="eager")
def shifted(x):
    return x + 1


print(shifted(torch.ones(2)), shifted.__name__, model.compile(backend="eager"), torch.compiler.list_backends())
for make in (
    lambda: torch.compile(3),
    lambda: torch.compile(lambda x: x, mode="fast"),
    lambda: torch.compile(lambda x: x, mode="default", options={}),
    lambda: compiled.nothing,
):
    try:
        print(make())
    except Exception as e:
        print(type(e).__name__, e)

one, other = torch.arange(2.0), torch.arange(3.0, requires_grad=True)
one.name_of_mine = "one"
print(torch.utils.swap_tensors(one, other), one, other, hasattr(one, "name_of_mine"), other.name_of_mine)
weight, plain = model.inner.weight, torch.zeros(1)
torch.utils.swap_tensors(weight, plain)
print(model.inner.weight is weight, type(weight), type(plain), weight, plain)
layer = nn.Linear(2, 1)
kept = layer.weight
torch.__future__.set_overwrite_module_params_on_conversion(True)
print(torch.__future__.get_overwrite_module_params_on_conversion(), layer.double().weight is kept, layer.weight.requires_grad, kept.dtype)
torch.__future__.set_overwrite_module_params_on_conversion(False)
kept = layer.weight
print(layer.float().weight is kept, kept.dtype, torch.__future__.get_swap_module_params_on_conversion())
