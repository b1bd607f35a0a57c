"""torch.optim.Adamax: Adam with the largest gradient in the place of the second moment."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import Bare, bare, parts
from gradrepl.torch.optim.adam import check_adam
from gradrepl.torch.optim.optimizer import Optimizer, counted, decayed, new_step, value_of


class Adamax(Optimizer):
    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check_adam(lr, betas, eps, weight_decay)
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize)
        super().__init__(params, {**defaults, "differentiable": differentiable, "capturable": capturable})

    def update(self, parameter, grad, state, group):
        if not state:
            state["step"] = new_step()
            state["exp_avg"], state["exp_inf"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        beta1, beta2 = group["betas"]
        lr = value_of(group["lr"]) / (1 - beta1 ** counted(state))
        for values, slope, mean, largest in bare(*parts(parameter, grad, state["exp_avg"], state["exp_inf"])):
            slope = decayed(values, slope, group)
            mean.lerp_(slope, 1 - beta1)
            raise_to(largest.mul_(beta2), slope.abs().add_(group["eps"]))
            values.addcdiv_(mean, largest, value=-lr)


def raise_to(largest, size):
    """The larger of the two, in place."""
    largest.maximum_(size) if isinstance(largest, Bare) else largest.copy_(torch.maximum(largest, size))
