"""torch.optim.SGD: gradient descent, with momentum if asked for."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import bare
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, decayed, value_of


def check_fused(fused, foreach, differentiable):
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


class SGD(Optimizer):
    """v = momentum v + (1 - dampening) g; p -= lr v."""

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_fused(fused, foreach, differentiable)
        defaults = dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov, maximize=maximize)
        super().__init__(params, {**defaults, "foreach": foreach, "differentiable": differentiable, "fused": fused})

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, usual in (("nesterov", False), ("maximize", False), ("foreach", None), ("differentiable", False), ("fused", False)):
                group.setdefault(name, usual)

    def step_group(self, group):
        """Without momentum there is no state, and nothing is put there."""
        if group["momentum"] != 0:
            super().step_group(group)
            return
        lr, maximize = -value_of(group["lr"]), group["maximize"]
        for parameter in group["params"]:
            grad = parameter.grad
            if grad is not None:
                for values, slope in bare(parameter, -grad if maximize else grad):
                    values.add_(decayed(values, slope, group), alpha=lr)

    def update(self, parameter, grad, state, group):
        momentum, buffer, lr = group["momentum"], state.get("momentum_buffer"), -value_of(group["lr"])
        if is_first := buffer is None:
            grad = decayed(parameter, grad, group)
            buffer = state["momentum_buffer"] = grad.detach().clone() if not group["differentiable"] else grad.clone()
        for values, slope, speed in bare(parameter, grad, buffer):
            if not is_first:
                slope = decayed(values, slope, group)
                speed.mul_(momentum).add_(slope, alpha=1 - group["dampening"])
            values.add_(slope.add(speed, alpha=momentum) if group["nesterov"] else speed, alpha=lr)
