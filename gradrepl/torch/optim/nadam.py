"""torch.optim.NAdam: Adam with Nesterov's momentum."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import bare, parts
from gradrepl.torch.optim.adam import check_adam
from gradrepl.torch.optim.optimizer import Optimizer, counted, decayed_or_apart, new_step, value_of


class NAdam(Optimizer):
    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        check_adam(lr, betas, eps, weight_decay)
        if not 0.0 <= momentum_decay:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults.update(decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach)
        super().__init__(params, {**defaults, "capturable": capturable, "differentiable": differentiable})

    def update(self, parameter, grad, state, group):
        if not state:
            state["step"], state["mu_product"] = new_step(), torch.ones((), dtype=torch.float32)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        step, (beta1, beta2), lr = counted(state), group["betas"], value_of(group["lr"])
        momentum = lambda step: beta1 * (1.0 - 0.5 * (0.96 ** (step * group["momentum_decay"])))
        mu, mu_next = momentum(step), momentum(step + 1)
        state["mu_product"] *= mu
        product = value_of(state["mu_product"])
        for values, slope, mean, square in bare(*parts(parameter, grad, state["exp_avg"], state["exp_avg_sq"])):
            slope = decayed_or_apart(values, slope, group, lr)
            mean.lerp_(slope, 1 - beta1)
            square.mul_(beta2).addcmul_(slope, slope, value=1 - beta2)
            denominator = (square / (1 - beta2**step)).sqrt().add(group["eps"])
            values.addcdiv_(slope, denominator, value=(-lr * (1.0 - mu) / (1.0 - product)))
            values.addcdiv_(mean, denominator, value=(-lr * mu_next) / (1.0 - product * mu_next))
