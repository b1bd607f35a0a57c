"""torch.optim.RAdam: Adam that trusts its second moment only once it has seen enough."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim.adam import check_adam, first_moments
from gradrepl.torch.optim.optimizer import Optimizer, decayed_or_apart, value_of


class RAdam(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        check_adam(lr, betas, eps, weight_decay)
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach)
        defaults.update(capturable=capturable, decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable)
        super().__init__(params, defaults)

    def update(self, parameter, grad, state, group):
        first_moments(state, parameter)
        state["step"] += 1
        step, (beta1, beta2), lr = value_of(state["step"]), group["betas"], value_of(group["lr"])
        grad = decayed_or_apart(parameter, grad, group, lr)
        state["exp_avg"].lerp_(grad, 1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        corrected, correction2 = state["exp_avg"] / (1 - beta1**step), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * (beta2**step) / correction2
        scale = 1.0
        if length > 5.0:
            scale = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            root = state["exp_avg_sq"].sqrt()
            root = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
            parameter.add_(corrected * lr * ((correction2**0.5) / root) * scale, alpha=-1.0)
        else:
            parameter.add_(corrected * lr, alpha=-1.0)
