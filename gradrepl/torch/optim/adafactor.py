"""torch.optim.Adafactor: second moments kept as a row and a column."""

__name__ = "torch.optim._adafactor"

from gradrepl import torch
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, new_step, value_of


class Adafactor(Optimizer):
    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False):
        check_lr(lr)
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach, maximize=maximize)
        super().__init__(params, defaults)

    def update(self, parameter, grad, state, group):
        if not state:
            state["step"] = new_step()
            if grad.dim() > 1:
                state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
                state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.shape[-1]))
            else:
                state["variance"] = torch.zeros_like(grad)
        state["step"] += 1
        step, lr, (eps1, eps2) = value_of(state["step"]), value_of(group["lr"]), group["eps"]
        eps1 = torch.finfo(parameter.dtype).eps if eps1 is None else eps1
        weight = step ** group["beta2_decay"]
        alpha = max(eps2, value_of(parameter.norm(2)) / (parameter.numel() ** 0.5)) * min(lr, 1 / (step**0.5))
        if group["weight_decay"] != 0:
            parameter.mul_(1 - lr * group["weight_decay"])
        update = self.variance(grad, state, weight, eps1).rsqrt_()
        update.mul_(grad)
        scale = max(1.0, value_of(update.norm(2)) / ((update.numel() ** 0.5) * group["d"]))
        parameter.add_(update, alpha=-alpha / scale)

    def variance(self, grad, state, weight, eps):
        """The estimate of the second moment, moved towards this gradient."""
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(torch.norm(grad, dim=-1, keepdim=True).square_().div_(grad.size(-1)), weight)
            columns.lerp_(torch.norm(grad, dim=-2, keepdim=True).square_().div_(grad.size(-2)), weight)
            product = rows @ columns
            return product.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=eps)).clamp_(min=eps * eps)
        state["variance"].lerp_(grad.square(), weight)
        return state["variance"].clamp(min=eps * eps)
