"""torch.optim.Rprop: steps that look only at the signs of gradients."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import parts, start_of
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, new_step, value_of


class Rprop(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize)
        super().__init__(params, {**defaults, "differentiable": differentiable, "capturable": capturable})

    def update(self, parameter, grad, state, group):
        if not state:
            state["step"], state["prev"] = new_step(), torch.zeros_like(parameter)
            state["step_size"] = torch.full_like(grad, start_of(grad, value_of(group["lr"])))
        state["step"] += 1
        (down, up), (smallest, largest) = group["etas"], group["step_sizes"]
        parameter, grad, before, size = parts(parameter, grad, state["prev"], state["step_size"])
        agreement = grad.mul(before).sign()
        factor = torch.ones_like(agreement).masked_fill(agreement > 0, up).masked_fill(agreement < 0, down)
        size.mul_(factor).clamp_(smallest, largest)
        grad = grad.masked_fill(factor == down, 0)
        parameter.addcmul_(grad.sign(), size, value=-1)
        before.copy_(grad)
