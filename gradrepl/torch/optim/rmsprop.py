"""torch.optim.RMSprop: steps divided by a running root mean square."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import bare, parts
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, counted, decayed, new_step, value_of


class RMSprop(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        for name, value in (("epsilon", eps), ("momentum", momentum), ("weight_decay", weight_decay), ("alpha", alpha)):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {name} value: {value}")
        defaults = dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay)
        defaults.update(capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable)
        super().__init__(params, defaults)

    def update(self, parameter, grad, state, group):
        if not state:
            state["step"], state["square_avg"] = new_step(), torch.zeros_like(parameter)
            if group["momentum"] > 0:
                state["momentum_buffer"] = torch.zeros_like(parameter)
            if group["centered"]:
                state["grad_avg"] = torch.zeros_like(parameter)
        counted(state)
        names = ["grad_avg"] * group["centered"] + ["momentum_buffer"] * (group["momentum"] > 0)
        for values, slope, square, *more in bare(*parts(parameter, grad, state["square_avg"], *[state[name] for name in names])):
            self.move(values, decayed(values, slope, group), square, dict(zip(names, more)), group)

    def move(self, parameter, grad, square, more, group):
        alpha, lr = group["alpha"], value_of(group["lr"])
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = more["grad_avg"].lerp_(grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root = root.add_(group["eps"]) if not group["differentiable"] else root.add(group["eps"])
        if group["momentum"] > 0:
            parameter.add_(more["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, root), alpha=-lr)
        else:
            parameter.addcdiv_(grad, root, value=-lr)
