"""torch.optim.Adam: steps scaled by running moments of the gradient."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.optim._bare import Bare, bare, parts
from gradrepl.torch.optim.optimizer import Optimizer, check_betas, check_lr, counted, decayed_or_apart, new_step, value_of
from gradrepl.torch.optim.sgd import check_fused


def check_adam(lr, betas, eps, weight_decay):
    if isinstance(lr, torch.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_lr(lr)
    if not 0.0 <= eps:
        raise ValueError(f"Invalid epsilon value: {eps}")
    check_betas(betas)
    if not 0.0 <= weight_decay:
        raise ValueError(f"Invalid weight_decay value: {weight_decay}")


def first_moments(state, parameter):
    """The state all of Adam's family starts with."""
    if not state:
        state["step"] = new_step()
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)


def raised(high, square):
    """The largest so far."""
    return high.maximum_(square) if isinstance(high, Bare) else torch.maximum(high, square, out=high)


class Adam(Optimizer):
    """m = β1 m + (1 - β1) g; v = β2 v + (1 - β2) g²; p -= lr m̂ / (√v̂ + eps)."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        check_adam(lr, betas, eps, weight_decay)
        check_fused(fused, foreach, differentiable)
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach)
        defaults.update(capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        usual = dict(amsgrad=False, maximize=False, foreach=None, capturable=False, differentiable=False, decoupled_weight_decay=False)
        for group in self.param_groups:
            for name, value in {**usual, "fused": None}.items():
                group.setdefault(name, value)

    def update(self, parameter, grad, state, group):
        first_moments(state, parameter)
        if group["amsgrad"] and "max_exp_avg_sq" not in state:
            state["max_exp_avg_sq"] = torch.zeros_like(parameter)
        (beta1, beta2), lr, step = map(value_of, group["betas"]), value_of(group["lr"]), counted(state)
        size, correction = -(lr / (1 - beta1**step)), (1 - beta2**step) ** 0.5
        largest = [state["max_exp_avg_sq"]] if group["amsgrad"] else []
        for values, slope, mean, square, *highest in bare(*parts(parameter, grad, state["exp_avg"], state["exp_avg_sq"], *largest)):
            slope = decayed_or_apart(values, slope, group, lr)
            mean.lerp_(slope, 1 - beta1)
            square.mul_(beta2).addcmul_(slope, slope, value=1 - beta2)
            for high in highest:
                square = raised(high, square)
            values.addcdiv_(mean, (square.sqrt() / correction).add_(group["eps"]), value=size)
