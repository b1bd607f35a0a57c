"""torch.optim.RAdam: Adam that trusts its second moment only once it has seen enough."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import bare, parts
from gradrepl.torch.optim.adam import check_adam, first_moments
from gradrepl.torch.optim.optimizer import Optimizer, counted, decayed_or_apart, value_of


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
        step, (beta1, beta2), lr = counted(state), group["betas"], value_of(group["lr"])
        correction1, correction2, longest = 1 - beta1**step, 1 - beta2**step, 2 / (1 - beta2) - 1
        length, scale = longest - 2 * step * (beta2**step) / correction2, None
        if length > 5.0:
            scale = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
        for values, slope, mean, square in bare(*parts(parameter, grad, state["exp_avg"], state["exp_avg_sq"])):
            slope = decayed_or_apart(values, slope, group, lr)
            mean.lerp_(slope, 1 - beta1)
            square.mul_(beta2).addcmul_(slope, slope, value=1 - beta2)
            step_of = mean / correction1 * lr
            if scale is not None:
                root = square.sqrt()
                root = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
                step_of = step_of * ((correction2**0.5) / root) * scale
            values.add_(step_of, alpha=-1.0)
