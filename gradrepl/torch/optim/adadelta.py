"""torch.optim.Adadelta: steps in the units of the parameters."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import bare, parts
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, counted, decayed, new_step, value_of


class Adadelta(Optimizer):
    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable)
        super().__init__(params, {**defaults, "foreach": foreach, "differentiable": differentiable})

    def update(self, parameter, grad, state, group):
        if not state:
            state["step"] = new_step()
            state["square_avg"], state["acc_delta"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        counted(state)
        rho, eps, lr = group["rho"], group["eps"], -value_of(group["lr"])
        for values, slope, square, moved in bare(*parts(parameter, grad, state["square_avg"], state["acc_delta"])):
            slope = decayed(values, slope, group)
            square.mul_(rho).addcmul_(slope, slope, value=1 - rho)
            root, delta = square.add(eps).sqrt_(), moved.add(eps).sqrt_()
            delta = (delta.clone() if group["differentiable"] else delta).div_(root).mul_(slope)
            moved.mul_(rho).addcmul_(delta, delta, value=1 - rho)
            values.add_(delta, alpha=lr)
