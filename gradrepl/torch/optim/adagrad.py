"""torch.optim.Adagrad: steps divided by the root of all squares so far."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import bare, parts, start_of
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, counted, decayed, new_step, value_of
from gradrepl.torch.optim.sgd import check_fused


class Adagrad(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        check_lr(lr)
        rest = dict(lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, epsilon=eps)
        for name, value in rest.items():
            if not 0.0 <= value:
                raise ValueError(f"Invalid {name} value: {value}")
        check_fused(fused, foreach, differentiable)
        defaults = dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value)
        super().__init__(params, {**defaults, **dict(foreach=foreach, maximize=maximize, differentiable=differentiable, fused=fused)})
        for group in self.param_groups:
            for parameter in group["params"]:
                start = start_of(parameter, initial_accumulator_value)
                self.state[parameter].update(step=new_step(), sum=torch.full_like(parameter, start))

    def share_memory(self):
        """All state is in this process."""

    def update(self, parameter, grad, state, group):
        lr = value_of(group["lr"]) / (1 + (counted(state) - 1) * group["lr_decay"])
        for values, slope, total in bare(*parts(parameter, grad, state["sum"])):
            slope = decayed(values, slope, group)
            total.addcmul_(slope, slope, value=1)
            root = total.sqrt().add_(group["eps"]) if not group["differentiable"] else total.sqrt() + group["eps"]
            values.addcdiv_(slope, root, value=-lr)
