"""torch.optim.ASGD: the average of the parameters on the way."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import parts
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, decayed, new_step, value_of


class ASGD(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check_lr(lr)
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize)
        super().__init__(params, {**defaults, "differentiable": differentiable, "capturable": capturable})

    def update(self, parameter, grad, state, group):
        lr = value_of(group["lr"])
        if not state:
            state["step"], state["eta"] = new_step(), torch.as_tensor(lr, dtype=torch.float32).clone()
            state["mu"], state["ax"] = torch.ones((), dtype=torch.float32), torch.zeros_like(parameter)
        state["step"] += 1
        parameter, grad, average = parts(parameter, grad, state["ax"])
        step, grad, eta = value_of(state["step"]), decayed(parameter, grad, group), value_of(state["eta"])
        parameter.mul_(1 - group["lambd"] * eta)
        parameter.add_(grad, alpha=-eta)
        mu = value_of(state["mu"])
        if mu != 1:
            average.add_(parameter.sub(average).mul_(mu))
        else:
            average.copy_(parameter)
        state["eta"].copy_(torch.as_tensor(lr / ((1 + group["lambd"] * lr * step) ** group["alpha"])))
        state["mu"].copy_(torch.as_tensor(1 / max(1, step - group["t0"])))
