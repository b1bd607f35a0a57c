"""torch.optim.SGD: gradient descent, with momentum if asked for."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
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
            if parameter.grad is not None:
                grad = -parameter.grad if maximize else parameter.grad
                parameter.add_(decayed(parameter, grad, group), alpha=lr)

    def update(self, parameter, grad, state, group):
        grad, momentum = decayed(parameter, grad, group), group["momentum"]
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = grad.detach().clone() if not group["differentiable"] else grad.clone()
        else:
            buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
        grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        parameter.add_(grad, alpha=-value_of(group["lr"]))
