"""Losses scaled, gradients unscaled, steps skipped; and what is asked about mixed precision where there is none."""

import pickle
import warnings

import torch

warnings.simplefilter("ignore")
for asked in (
    torch.is_autocast_enabled(),
    torch.is_autocast_enabled("cpu"),
    torch.get_autocast_dtype("cpu"),
    torch.get_autocast_dtype("cuda"),
    torch.get_autocast_gpu_dtype(),
    torch.is_autocast_cpu_enabled(),
    torch.amp.is_autocast_available("cpu"),
    torch.GradScaler is torch.amp.GradScaler,
    torch.GradScaler().is_enabled(),
    torch.GradScaler("cpu", enabled=False).state_dict(),
):
    print(asked)
place = torch.nn.Parameter(torch.ones(2))
sgd = torch.optim.SGD([place], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
print(scaler.state_dict(), scaler.get_scale())


def attempt(*actions):
    for action in actions:
        try:
            print(action())
        except (AssertionError, RuntimeError, ValueError) as e:
            print(type(e).__name__, e)


attempt(lambda: scaler.unscale_(sgd), lambda: scaler.step(sgd), scaler.update)
for i in range(6):
    sgd.zero_grad()
    scaler.scale((place * place).sum() * (float("inf") if i == 3 else 1.0)).backward()
    print(place.grad)
    if i % 2:
        attempt(lambda: scaler.unscale_(sgd), lambda: scaler.unscale_(sgd))
        print(place.grad)
    attempt(lambda: scaler.step(sgd), lambda: scaler.step(sgd), lambda: scaler.unscale_(sgd))
    scaler.update()
    print(place.data, scaler.get_scale(), scaler.state_dict()["_growth_tracker"])
print(scaler.scale([torch.ones(1), (torch.ones(2),)]))
attempt(
    lambda: scaler.scale(3),
    lambda: scaler.step(sgd, closure=print),
    lambda: scaler.update(4.0),
    scaler.get_scale,
    lambda: scaler.update(torch.tensor([2.0, 3.0])),
    lambda: scaler.load_state_dict({}),
    lambda: torch.GradScaler("cpu", growth_factor=1.0),
    lambda: torch.GradScaler("cpu", backoff_factor=1.0),
    lambda: torch.amp.custom_fwd(device_type=3),
    lambda: torch.autocast(3),
    lambda: torch.autocast("abacus"),
)
other = torch.GradScaler("cpu")
other.load_state_dict(scaler.state_dict())
other.set_growth_interval(5)
other.set_growth_factor(3.0)
other.set_backoff_factor(0.25)
print(other.state_dict(), pickle.loads(pickle.dumps(other)).get_scale())
half = torch.nn.Parameter(torch.ones(2).half())
other.scale(half.sum()).backward()
attempt(lambda: other.unscale_(torch.optim.SGD([half], lr=0.1)))


class Twice(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        print(ctx._fwd_used_autocast, ctx._dtype)
        return x * 2

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        return grad * 2


x = torch.ones(2, requires_grad=True)
Twice.apply(x).sum().backward()
print(x.grad)
with torch.autocast("cpu", enabled=False), torch.autocast("cuda"):
    print((x @ x).dtype)
